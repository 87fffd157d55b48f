import { expect, it } from 'vitest';
import { DIALECTS } from '#contracts';
import { DIALECT_BY_NAME } from './index.js';

const pathOf = (dialect: string, model: string) =>
  dialect === 'gemini' ? `/v1beta/models/${model}:generateContent` : '/any';

it.each(DIALECTS)(
  'reads the model that a request of %s names, and none that is too long to be one',
  (name) => {
    const modelOf = (model: string) =>
      DIALECT_BY_NAME[name].readRequest({ model }, pathOf(name, model)).model;
    const longest = 'm'.repeat(256);
    expect(modelOf(longest)).toBe(longest);
    // It is kept with each call, in every listing and on every page.
    expect(modelOf(`${longest}m`)).toBeNull();
  },
);
