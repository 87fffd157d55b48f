import { expect, it } from 'vitest';
import { EndReader } from './end-reader.js';

it('knows the id of a whole answer that has just begun, though it is longer than an end', () => {
  const reader = new EndReader();
  const begun = { input: 'x'.repeat(10_000), id: 'v1_abc', status: 'in_progress' };
  reader.push(Buffer.from(JSON.stringify(begun)));
  expect(reader.finish()).toMatchObject({ answer_id: 'v1_abc', usage: null });
});

it('knows the id of a stream that was left, however its pieces are cut, and of one that ended what it took', () => {
  const begun = 'data: {"event_type":"interaction.created","interaction":{"id":"v1_abc"}}\n\n';
  const deltas = 'data: {"event_type":"step.delta"}\n\n'.repeat(1_000);
  const ended =
    'data: {"event_type":"interaction.completed","interaction":{"usage":{"total_input_tokens":7}}}\n\n';
  for (const size of [1, 100, 100_000]) {
    const [left, whole] = [begun + deltas, begun + deltas + ended].map((text) => {
      const reader = new EndReader();
      for (let at = 0; at < text.length; at += size) reader.push(Buffer.from(text.slice(at, at + size)));
      return reader.finish();
    });
    expect(left).toMatchObject({ answer_id: 'v1_abc', usage: null });
    expect(whole).toMatchObject({ answer_id: null, usage: { input_tokens: 7 } });
  }
});
