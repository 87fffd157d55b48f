import { describe, expect, it } from 'vitest';
import { standForModel } from './model-names.js';

const NAMES = ['gpt-5-mini', 'claude-haiku-*'];

describe('standForModel', () => {
  it.each(['gpt-5-mini', 'gpt-5-mini-2026-01-31', 'gpt-5-mini-latest', 'claude-haiku-5', 'claude-haiku-'])(
    'takes %s',
    (model) => {
      expect(standForModel(NAMES, model)).toBe(true);
    },
  );

  it.each(['gpt-5', 'gpt-5-mini-high', 'GPT-5-mini', 'my-gpt-5-mini', 'claude-opus-5', 'claude-haiku', ''])(
    'does not take "%s"',
    (model) => {
      expect(standForModel(NAMES, model)).toBe(false);
    },
  );

  it('takes all for a star, and nothing for no names', () => {
    expect(standForModel(['*'], 'any')).toBe(true);
    expect(standForModel([], 'any')).toBe(false);
  });
});
