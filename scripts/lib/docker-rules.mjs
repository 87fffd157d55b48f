/** What must hold for an image of ours. Each rule says what is wrong; nothing wrong is an empty list. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pairsOf, parseDockerfile, parseDockerignore } from './dockerfile.mjs';

/** @typedef {import('./dockerfile.mjs').Stage} Stage */
/** @typedef {import('./dockerfile.mjs').Instruction} Instruction */

const SECRET_NAME = /(^|_)(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)($|_)/i;

/**
 * @param {string} image
 * @returns {string | null} what is wrong with how it is named
 */
export function imageFault(image) {
  const [name = '', digest] = image.split('@');
  const [first = ''] = name.split('/');
  if (name.includes('/') && /[.:]|^localhost$/.test(first)) return `${image} names a registry's host`;
  const tag = name.includes(':') ? name.slice(name.lastIndexOf(':') + 1) : null;
  if (digest !== undefined) return null;
  if (tag === null) return `${image} has no tag, so it is whatever is newest`;
  return /\d/.test(tag) ? null : `${image} is not pinned to a version`;
}

/**
 * A file of the build as it was in the sources: dist/apps/x/src/y.js is apps/x/src/y.ts.
 *
 * @param {string} path
 */
const sourceOfBuilt = (path) =>
  /^dist\/(apps|libs)\/.*\.js$/.test(path) ? path.replace(/^dist\//, '').replace(/\.js$/, '.ts') : path;

/**
 * @param {string} text of the Dockerfile
 * @param {{ root: string, dockerignore?: string }} options root: the build's context
 * @returns {string[]}
 */
export function checkDockerfile(text, { root, dockerignore }) {
  const { stages, faults } = parseDockerfile(text);
  const last = stages.at(-1);
  if (!last) return faults;
  const ignore = dockerignore ?? join(root, '.dockerignore');
  const isIgnored = parseDockerignore(existsSync(ignore) ? readFileSync(ignore, 'utf8') : '');
  const earlier = (/** @type {Stage} */ stage) =>
    stages.slice(0, stages.indexOf(stage)).map(({ name }) => name);
  for (const stage of stages) {
    const fault = earlier(stage).includes(stage.image) ? null : imageFault(stage.image);
    if (fault !== null) faults.push(`line ${stage.line}: ${fault}`);
    for (const instruction of stage.instructions) {
      const found =
        instruction.name === 'COPY'
          ? copyFaults(instruction, { root, isIgnored, stageNames: earlier(stage) })
          : plainFaults(instruction);
      faults.push(...found.map((text) => `line ${instruction.line}: ${text}`));
    }
  }
  return [...faults, ...runtimeFaults(last, root)];
}

/** @param {Instruction} instruction @returns {string[]} */
function plainFaults({ name, text }) {
  if (name === 'ADD') return ['ADD unpacks and downloads; COPY does neither'];
  if (name === 'ENV' || name === 'ARG') {
    const names = name === 'ENV' ? pairsOf(text).map(([key]) => key) : [text.split('=')[0] ?? ''];
    return names
      .filter((key) => SECRET_NAME.test(key))
      .map((key) => `${key} would be in the image for everybody`);
  }
  if (name !== 'RUN') return [];
  const found = [];
  if (/\bnpm (i|install|add)\b/.test(text))
    found.push('npm install goes beyond the lock file; npm ci does not');
  if (/\b(curl|wget)\b/.test(text)) found.push('what is downloaded here is pinned by nothing');
  if (/\bsudo\b/.test(text)) found.push('sudo has no place in an image');
  return found;
}

/**
 * @param {Instruction} instruction
 * @param {{ root: string, isIgnored: (path: string) => boolean, stageNames: (string | null)[] }} known
 * @returns {string[]}
 */
function copyFaults({ flags, text, exec }, { root, isIgnored, stageNames }) {
  const from = flags.find((flag) => flag.startsWith('--from='))?.slice('--from='.length);
  if (from !== undefined) {
    return stageNames.includes(from) ? [] : [`--from=${from} is no stage above`];
  }
  const sources = (exec ?? text.split(/\s+/)).slice(0, -1);
  return sources.flatMap((source) => {
    const path = source.replace(/^\.\//, '').replace(/\/$/, '');
    if (path === '' || path === '.') return ['COPY . takes whatever lies about; name what is needed'];
    if (!existsSync(join(root, path))) return [`${path} does not exist`];
    return isIgnored(path) ? [`${path} is left out by .dockerignore`] : [];
  });
}

/** @param {Stage} stage the last one @param {string} root @returns {string[]} */
function runtimeFaults(stage, root) {
  /** @type {string[]} */
  const faults = [];
  const lastOf = (/** @type {string} */ name) => stage.instructions.findLast((one) => one.name === name);
  const user = lastOf('USER')?.text;
  if (user === undefined) faults.push('there is no USER: it would run as root');
  else if (/^(root|0)(:|$)/.test(user)) faults.push(`USER ${user} is root`);
  else if (!/^\d+(:\d+)?$/.test(user))
    faults.push(`USER ${user} is a name; by number it can be checked for "not root"`);
  if (!lastOf('WORKDIR')?.text.startsWith('/')) faults.push('WORKDIR is missing or not absolute');
  for (const name of ['CMD', 'HEALTHCHECK']) {
    const instruction = lastOf(name);
    if (instruction === undefined || instruction.text === 'NONE') faults.push(`there is no ${name}`);
    else if (instruction.exec === null)
      faults.push(`${name} is not a JSON array: signals would reach a shell, and not the program`);
    else {
      const script = instruction.exec.find((part) => /^[\w./-]+\.m?js$/.test(part));
      if (script !== undefined && !existsSync(join(root, sourceOfBuilt(script))))
        faults.push(`${name} runs ${script}, which nothing here becomes`);
    }
  }
  if (stage.instructions.some(({ name, text }) => name === 'RUN' && /\bnpm\b/.test(text)))
    faults.push('the last stage runs npm; only what it copies from others should be in it');
  const owned = stage.instructions
    .filter(({ name, text }) => name === 'RUN' && text.includes('chown'))
    .map(({ text }) => text);
  for (const folder of volumesOf(stage)) {
    if (!owned.some((text) => text.includes(`mkdir -p`) && text.includes(folder)))
      faults.push(`VOLUME ${folder} is not made and given to the user first: it would be root's`);
  }
  return faults;
}

/** @param {Stage} stage @returns {string[]} */
export const volumesOf = (stage) =>
  stage.instructions.flatMap(({ name, exec, text }) =>
    name === 'VOLUME' ? (exec ?? text.split(/\s+/)) : [],
  );

/** The stages that images share must be equal to the letter, or the builder builds them once for each. @param {string} a @param {string} b @returns {string[]} */
export function sharedStageFaults(a, b) {
  const body = (/** @type {Stage} */ { image, instructions }) =>
    JSON.stringify([image, instructions.map(({ name, flags, text }) => [name, flags, text])]);
  const others = parseDockerfile(b).stages;
  return parseDockerfile(a)
    .stages.slice(0, -1)
    .filter((stage, index) => body(stage) !== body(others[index] ?? { ...stage, image: '' }))
    .map(
      ({ name, line }) =>
        `line ${line}: stage ${name} differs between the Dockerfiles, so it would be built twice`,
    );
}
