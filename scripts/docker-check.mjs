/**
 * `node scripts/docker-check.mjs`: reads docker/ and says what would break or is unsafe. Needs no container engine, so it
 * proves nothing about a build; it finds what a build or a run would trip over, and what nobody would notice.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { checkCompose } from './lib/compose-rules.mjs';
import { checkDockerfile, sharedStageFaults } from './lib/docker-rules.mjs';

const DOCKERFILES = ['docker/gateway.Dockerfile', 'docker/embedding-sidecar.Dockerfile'];
const COMPOSE = 'docker/compose.yaml';

/** @param {string} root of the repository @returns {string[]} `file: what is wrong` */
export function checkDocker(root) {
  const missing = [...DOCKERFILES, COMPOSE, '.dockerignore'].filter((path) => !existsSync(join(root, path)));
  if (missing.length > 0) return missing.map((path) => `${path}: it does not exist`);
  const read = (/** @type {string} */ path) => readFileSync(join(root, path), 'utf8');
  const [first = '', second = ''] = DOCKERFILES.map(read);
  return [
    ...DOCKERFILES.flatMap((path) =>
      checkDockerfile(read(path), { root }).map((fault) => `${path}: ${fault}`),
    ),
    ...sharedStageFaults(first, second).map((fault) => `docker: ${fault}`),
    ...checkCompose(read(COMPOSE), { path: join(root, COMPOSE) }).map((fault) => `${COMPOSE}: ${fault}`),
  ];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const faults = checkDocker(fileURLToPath(new URL('..', import.meta.url)));
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  process.stdout.write(
    faults.length === 0 ? 'docker/: nothing wrong\n' : `docker/: ${faults.length} wrong\n`,
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
}
