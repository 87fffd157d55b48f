/**
 * `npm run audit:verify`: recomputes the hash chain of the audit, of a data directory (also while the gateway runs)
 * or of an export. Needs a build and nothing else; changes nothing.
 *
 * What it cannot know: whether the last lines were cut off an export. It therefore names where each chain ends, to
 * be compared with what the gateway says.
 */
import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { DATABASE_FILE, dataDirOf } from './lib/data-dir.mjs';
import { shownText } from './lib/shown-text.mjs';

/** @import { AuditEntry } from '#contracts' */
/** @import { AuditHead } from '#domain/hitl' */

const help = `Checks that nobody changed, removed or slipped in an entry of the audit.

  npm run audit:verify -- [options]

  --data-dir DIR   the gateway's data directory (default: OBSERVATORY_DATA_DIR, else ./data)
  --file FILE      an export instead: JSON lines, whole tenants, oldest first
  --tenant NAME    only this tenant (default: every tenant there is)
  --help

Ends with 0 if every chain is whole, 1 if one is broken, 2 if it could not be checked.
`;

const EXIT = { whole: 0, broken: 1, unusable: 2 };

/** Nothing was checked: wrong arguments, nothing to read. */
class Unusable extends Error {}

/**
 * @typedef {object} Finding
 * @property {string} tenant_id
 * @property {number} entry_count good ones, up to the first bad one
 * @property {number | null} broken_at_seq
 * @property {AuditHead} [head] where a whole chain ends
 */

/** @param {string[]} args */
function parseOptions(args) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        'data-dir': { type: 'string' },
        file: { type: 'string' },
        tenant: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.file !== undefined && values['data-dir'] !== undefined) {
      throw new TypeError('give --data-dir or --file, not both');
    }
    return values;
  } catch (error) {
    throw new Unusable(`${error instanceof Error ? error.message : error}\n\n${help}`);
  }
}

/**
 * @param {string} dataDir
 * @param {string | undefined} onlyTenant
 * @returns {Promise<Finding[]>}
 */
async function checkDatabase(dataDir, onlyTenant) {
  const path = join(dataDir, DATABASE_FILE);
  if (!existsSync(path)) throw new Unusable(`there is no ${path}`);
  const { StoredAudit } = await import('#adapters/sqlite');
  const audit = new StoredAudit(path);
  try {
    return audit
      .tenants()
      .filter((tenant) => onlyTenant === undefined || tenant === onlyTenant)
      .map((tenant_id) => ({ tenant_id, ...audit.verify(tenant_id) }));
  } finally {
    audit.close();
  }
}

/**
 * @param {string} file
 * @param {string | undefined} onlyTenant
 * @returns {Promise<Finding[]>}
 */
async function checkExport(file, onlyTenant) {
  if (!existsSync(file)) throw new Unusable(`there is no ${file}`);
  const { AUDIT_GENESIS, verifyAuditChain } = await import('#domain/hitl');
  /** @type {Map<string, Finding & { head: AuditHead }>} */
  const findings = new Map();
  let lineNumber = 0;
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    lineNumber += 1;
    if (line.trim() === '') continue;
    const entry = parseEntry(line);
    if (entry === null) {
      // Of which tenant it was cannot be told: every chain ends here.
      return [
        ...findings.values(),
        { tenant_id: `line ${lineNumber}, not an audit entry`, entry_count: 0, broken_at_seq: 0 },
      ];
    }
    if (onlyTenant !== undefined && entry.tenant_id !== onlyTenant) continue;
    const finding = findings.get(entry.tenant_id) ?? {
      tenant_id: entry.tenant_id,
      entry_count: 0,
      broken_at_seq: null,
      head: AUDIT_GENESIS,
    };
    findings.set(entry.tenant_id, finding);
    if (finding.broken_at_seq !== null) continue;
    const checked = verifyAuditChain([entry], finding.head);
    finding.entry_count += checked.entry_count;
    finding.broken_at_seq = checked.broken_at_seq;
    finding.head = checked.head;
  }
  return [...findings.values()];
}

/** @param {string} line @returns {AuditEntry | null} */
function parseEntry(line) {
  try {
    const entry = JSON.parse(line);
    return typeof entry === 'object' && entry !== null && typeof entry.tenant_id === 'string' ? entry : null;
  } catch {
    return null;
  }
}

/** @param {Finding} finding */
function describe({ tenant_id, entry_count, broken_at_seq, head }) {
  if (broken_at_seq === 0) return `BROKEN  ${tenant_id}`;
  if (broken_at_seq !== null)
    return `BROKEN  ${tenant_id}: at entry ${broken_at_seq}, after ${entry_count} good ones`;
  const end = head && head.seq > 0 ? `, ends at entry ${head.seq} with hash ${head.hash}` : '';
  return `whole   ${tenant_id}: ${entry_count} entries${end}`;
}

/**
 * @param {string[]} args
 * @returns {Promise<number>} the exit code
 */
async function main(args) {
  const options = parseOptions(args);
  if (options.help) {
    process.stdout.write(help);
    return EXIT.whole;
  }
  const dataDir = dataDirOf(options['data-dir']);
  const findings =
    options.file === undefined
      ? await checkDatabase(dataDir, options.tenant)
      : await checkExport(options.file, options.tenant);
  if (findings.length === 0 && options.tenant !== undefined) {
    throw new Unusable(`no entry of tenant "${options.tenant}" is there`);
  }
  for (const finding of findings) process.stdout.write(`${shownText(describe(finding))}\n`);
  if (findings.length === 0) process.stdout.write('The audit is empty.\n');
  return findings.some((finding) => finding.broken_at_seq !== null) ? EXIT.broken : EXIT.whole;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    const code = /** @type {{ code?: string }} */ (error).code;
    const reason =
      code === 'ERR_MODULE_NOT_FOUND'
        ? 'there is no build: npm run build'
        : String(/** @type {Error} */ (error).message);
    process.stderr.write(`audit:verify: ${reason.trimEnd()}\n`);
    process.exitCode = EXIT.unusable;
  }
}
