/** Reads Dockerfiles and .dockerignore, as far as this repository uses them; what it does not know it refuses. */

const INSTRUCTIONS = new Set(
  'ARG FROM WORKDIR COPY ADD RUN ENV LABEL USER VOLUME EXPOSE HEALTHCHECK CMD ENTRYPOINT STOPSIGNAL SHELL'.split(
    ' ',
  ),
);

/**
 * @typedef {object} Instruction
 * @property {number} line from 1
 * @property {string} name upper case
 * @property {string[]} flags such as `--from=build`
 * @property {string} text without flags; continuation lines joined by one space
 * @property {string[] | null} exec its JSON array; null: none
 */
/** @typedef {{ image: string, name: string | null, line: number, instructions: Instruction[] }} Stage */

/** @param {string} text @returns {{ stages: Stage[], globals: Map<string, string>, faults: string[] }} globals: ARGs before the first FROM */
export function parseDockerfile(text) {
  /** @type {Stage[]} */
  const stages = [];
  /** @type {Map<string, string>} */
  const globals = new Map();
  /** @type {string[]} */
  const faults = [];
  for (const instruction of instructionsOf(text)) {
    const { name, line, text: words } = instruction;
    const stage = stages.at(-1);
    if (!INSTRUCTIONS.has(name)) faults.push(`line ${line}: ${name} is no instruction`);
    else if (name === 'FROM') {
      const match = /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(substitute(words, globals));
      if (match) stages.push({ image: match[1] ?? '', name: match[2] ?? null, line, instructions: [] });
      else faults.push(`line ${line}: FROM can't be read`);
    } else if (stage) stage.instructions.push(instruction);
    else if (name === 'ARG') globals.set(words.split('=')[0] ?? '', words.slice(words.indexOf('=') + 1));
    else faults.push(`line ${line}: ${name} stands before FROM`);
  }
  if (stages.length === 0) faults.push('there is no FROM');
  return { stages, globals, faults };
}

/** @param {string} text @returns {Instruction[]} */
function instructionsOf(text) {
  /** @type {Instruction[]} */
  const found = [];
  let joined = '';
  let startedAt = 0;
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    // A comment between continuation lines is left out, as the builder does.
    if (/^\s*#/.test(raw) || (joined === '' && raw.trim() === '')) continue;
    if (joined === '') startedAt = index + 1;
    const isContinued = /\\\s*$/.test(raw);
    joined += `${joined === '' ? '' : ' '}${raw.replace(/\\\s*$/, '').trim()}`;
    if (isContinued) continue;
    const [, name = '', rest = ''] = /^(\S+)\s*(.*)$/.exec(joined) ?? [];
    const words = rest.split(' ');
    const isFlag = (/** @type {string} */ word) => word.startsWith('--') && name.toUpperCase() !== 'RUN';
    const flags = words.slice(
      0,
      Math.max(
        0,
        words.findIndex((word) => !isFlag(word)),
      ),
    );
    const remaining = words.slice(flags.length).join(' ');
    found.push({
      line: startedAt,
      name: name.toUpperCase(),
      flags,
      text: remaining,
      exec: execOf(remaining),
    });
    joined = '';
  }
  return found;
}

/** @param {string} text of CMD, or of HEALTHCHECK after its `CMD` @returns {string[] | null} */
function execOf(text) {
  try {
    const value = JSON.parse(text.replace(/^CMD\s+/, ''));
    return Array.isArray(value) && value.every((part) => typeof part === 'string') ? value : null;
  } catch {
    return null;
  }
}

/** `$NAME` and `${NAME}`. @param {string} text @param {Map<string, string>} values */
const substitute = (text, values) =>
  text.replace(/\$\{?(\w+)\}?/g, (whole, /** @type {string} */ name) => values.get(name) ?? whole);

/** `KEY=value` pairs of an ENV or LABEL. @param {string} text @returns {[string, string][]} */
export const pairsOf = (text) =>
  [...text.matchAll(/([\w.]+)=("[^"]*"|\S+)/g)].map(([, key = '', value = '']) => [
    key,
    value.replace(/^"|"$/g, ''),
  ]);

/**
 * @param {string} text of a .dockerignore
 * @returns {(path: string) => boolean} whether a path below the context stays out; the last matching line decides
 */
export function parseDockerignore(text) {
  const rules = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({
      isException: line.startsWith('!'),
      pattern: patternOf(line.replace(/^!/, '').replace(/^\/|\/$/g, '')),
    }));
  return (path) => {
    const parts = path.split('/');
    // A folder that is left out takes along what is in it; an exception lets in what is below it.
    const prefixes = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
    const decided = rules.findLast(({ pattern }) => prefixes.some((prefix) => pattern.test(prefix)));
    return decided !== undefined && !decided.isException;
  };
}

/** @param {string} glob */
function patternOf(glob) {
  const source = glob
    .split('/')
    .map((part) =>
      part === '**'
        ? '(?:.*)'
        : part
            .replace(/[.+^${}()|[\]\\]/g, '\\$&')
            .replace(/\*/g, '[^/]*')
            .replace(/\?/g, '[^/]'),
    )
    .join('/')
    .replace(/\(\?:\.\*\)\//g, '(?:.*/)?');
  return new RegExp(`^${source}$`);
}
