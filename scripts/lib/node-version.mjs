/** Says in words that this Node is too old; what it would say itself is of a module or of syntax. Runs on any Node with modules. */
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** `>=20.19` of package.json is the one place that names it. */
const oldest = engines.node.replace('>=', '');

/** Prints and exits with 1 where this Node is older than package.json asks for. */
export function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [majorMin = 0, minorMin = 0] = oldest.split('.').map(Number);
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return;
  process.stderr.write(
    `Observatory needs Node ${oldest} or newer, and this is ${process.versions.node}. Install a newer one (with nvm: nvm install, here), then: npm ci && npm start\n`,
  );
  process.exit(1);
}
