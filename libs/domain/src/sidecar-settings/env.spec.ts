import { expect, it } from 'vitest';
import { misspeltVariables } from '#kernel';
import { documentedSettings } from '#testing';
import { SETTING_VARIABLES } from './env.js';

it('takes no setting of any program here for a misspelt one of the sidecar', () => {
  const chapters = ['Gateway', 'Embedding sidecar', 'Commands and tests'];
  const names = chapters.flatMap((chapter) => [...documentedSettings(chapter).keys()]);
  const source = Object.fromEntries(names.map((name) => [name, 'x']));
  expect(misspeltVariables(source, SETTING_VARIABLES)).toEqual([]);
});
