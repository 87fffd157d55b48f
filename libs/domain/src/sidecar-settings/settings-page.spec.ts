/** docs/settings.md against the code: a variable that is read and not told of, and one that is told of and not read. */
import { expect, it } from 'vitest';
import { documentedSettings } from '#testing';
import { parseConfig } from './config.js';
import { CONFIG_VARIABLES, readEnvironment, SECRET_VARIABLES } from './env.js';

const documented = documentedSettings('Embedding sidecar');

it('names each variable that the sidecar reads, and no other', () => {
  const read = [CONFIG_VARIABLES, SECRET_VARIABLES].flatMap((table) => Object.values(table));
  expect([...documented.keys()].sort()).toEqual(read.sort());
});

it('gives each default as it is: what is set to it changes nothing', () => {
  const parse = (source: Record<string, string>) => parseConfig(readEnvironment(source).config);
  const defaults = [...documented].flatMap(([name, value]) => (value === null ? [] : [[name, value]]));
  expect(parse(Object.fromEntries(defaults))).toEqual(parse({}));
});
