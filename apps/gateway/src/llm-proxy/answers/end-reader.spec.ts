import { expect, it } from 'vitest';
import { EndReader } from './end-reader.js';

it('knows what a stream took that ended, however its pieces are cut, and nothing of one that was left', () => {
  const deltas = 'data: {"object":"text_completion"}\n\n'.repeat(1_000);
  const ended = 'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":1}}\n\n';
  for (const size of [1, 100, 100_000]) {
    const [left, whole] = [deltas, deltas + ended].map((text) => {
      const reader = new EndReader();
      for (let at = 0; at < text.length; at += size) reader.push(Buffer.from(text.slice(at, at + size)));
      return reader.finish();
    });
    expect(left).toBeNull();
    expect(whole).toMatchObject({ answer_id: null, usage: { input_tokens: 7 } });
  }
});
