import { describe, expect, it } from 'vitest';
import { SharedTexts } from './shared-texts.js';

describe('SharedTexts', () => {
  it('answers with an equal text, whatever came before under the same digest', () => {
    const shared = new SharedTexts();
    for (const text of ['a', 'b', 'a', '', 'é', '\ud800', 'a'.repeat(300), 'a'.repeat(301)])
      expect(shared.share(text, -7)).toBe(text);
  });
});
