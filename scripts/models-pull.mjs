/** `npm run models:pull -- minilm`: fetches a model's files into models/, checks them, and says how to use them. */
import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { filesToPull, MODEL_ALIASES, readManifest } from './lib/model-manifest.mjs';
import { pullFile, RECORDED_FILE } from './lib/model-pull.mjs';
import { openSource } from './lib/model-source.mjs';
import { bar, ProgressLine } from './lib/progress-line.mjs';
import { EXIT_STATUS, PullError } from './lib/pull-error.mjs';

const models = fileURLToPath(new URL('../models', import.meta.url));

const help = `Fetches a model's files and checks them against models/<model>/manifest.json.

  npm run models:pull -- minilm [options]       or: <folder with a manifest.json of your own>

  --precision P      int8 (default, 23 MB) or fp32 (90 MB)
  --from PLACE       a folder, or the URL of a mirror; else MODELS_MIRROR, else the publisher
  --to FOLDER        where it goes (default: models/<model>)
  --help

Run it again after it was cut off: it goes on where it stopped. What is already there is checked and left alone.
Exit status: 0 every file is there and checked; 1 failed; 2 wrong usage; 3 no connection; 4 not found;
5 not the file the manifest names; 6 no room, or not to be written; 130 Ctrl-C.
`;

/** @param {string[]} args @returns {{ folder: string, from: string | undefined, to: string, precision: string | undefined } | null} null: help */
function parseOptions(args) {
  const text = /** @type {const} */ ({ type: 'string' });
  const options = {
    from: text,
    to: text,
    precision: text,
    help: { type: /** @type {const} */ ('boolean'), short: 'h' },
  };
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
  if (values.help) return null;
  const [name, ...others] = positionals;
  const known = Object.keys(MODEL_ALIASES).join(', ');
  if (!name || others.length > 0) throw new PullError('usage', `name one model: ${known}.`);
  const folder = /[/\\]|^\.+$/.test(name)
    ? resolve(name)
    : join(models, MODEL_ALIASES[name.toLowerCase()] ?? name);
  if (!existsSync(join(folder, 'manifest.json')))
    throw new PullError(
      'usage',
      `no model is called "${name}": try ${known}, or a folder with a manifest.json.`,
    );
  const from = values.from ?? (process.env.MODELS_MIRROR?.trim() || undefined);
  return { folder, from, to: resolve(values.to ?? folder), precision: values.precision };
}

/** @param {number} bytes */
const inMegabytes = (bytes) => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;

/** @param {NonNullable<ReturnType<typeof parseOptions>>} options @param {AbortSignal} signal */
async function main({ folder, from, to, precision }, signal) {
  const manifest = readManifest(join(folder, 'manifest.json'));
  const files = filesToPull(manifest, precision);
  const source = openSource(manifest, from);
  process.stdout.write(`${manifest.model_id} from ${source.name}\n`);

  /** @type {{ name: string, have: number, total: number | null, startedAt: number, startedWith: number | null }} */
  let now = { name: '', have: 0, total: null, startedAt: 0, startedWith: null };
  const progress = new ProgressLine(() => {
    const seconds = Math.max((performance.now() - now.startedAt) / 1_000, 0.001);
    const speed = (now.have - (now.startedWith ?? 0)) / seconds;
    const left =
      now.total !== null && speed > 0 ? `  ${Math.ceil((now.total - now.have) / speed)} s left` : '';
    const size = now.total === null ? '' : ` of ${inMegabytes(now.total)}`;
    return `${bar(now.total ? now.have / now.total : 0)} ${now.name}  ${inMegabytes(now.have)}${size}  ${inMegabytes(speed)}/s${left}`;
  });
  progress.start();
  try {
    for (const file of files) {
      now = { name: file.name, have: 0, total: file.bytes, startedAt: performance.now(), startedWith: null };
      const result = await pullFile(file, {
        source,
        to,
        signal,
        onNote: (text) => progress.note(text),
        onProgress: (have, total) => {
          if (now.startedWith === null && have > 0)
            progress.note(`${file.name}: going on from ${inMegabytes(have)}.`);
          now.startedWith ??= have;
          Object.assign(now, { have, total });
        },
      });
      progress.note(
        {
          present: `  ${file.name}  already there, checked`,
          pulled: `  ${file.name}  ${inMegabytes(now.have)}, checked`,
          recorded: `  ${file.name}  ${inMegabytes(now.have)}; nobody pins its checksum, so ${RECORDED_FILE} now does`,
        }[result],
      );
    }
  } finally {
    progress.stop();
  }
  const place = relative(process.cwd(), to) || '.';
  process.stdout.write(
    `${manifest.title}\nLicence: ${manifest.licence}${manifest.attribution.map((line) => `\n  ${line}`).join('')}\n\n` +
      `It is in ${place}. To use it:\n\n  LOOP_EMBEDDING_MODEL_PATH=${place} npm start\n`,
  );
}

const stop = new AbortController();
const onSignal = () =>
  stop.abort(new PullError('stopped', 'stopped. Run it again to go on from where it is.'));
process.once('SIGINT', onSignal);
process.once('SIGTERM', onSignal);
try {
  const options = parseOptions(process.argv.slice(2));
  if (options) await main(options, stop.signal);
  else process.stdout.write(help);
} catch (error) {
  const isUsage = error instanceof TypeError && 'code' in error;
  const problem = isUsage ? 'usage' : error instanceof PullError ? error.problem : 'failed';
  const hint = problem === 'usage' ? '\n\nnpm run models:pull -- --help says more.' : '';
  process.stderr.write(`models:pull: ${error instanceof Error ? error.message : error}${hint}\n`);
  process.exitCode = EXIT_STATUS[problem];
}
