import { expect, it } from 'vitest';
import { EntropyWindow } from './entropy-window.js';
import { type TextId, TextPool } from './text-pool.js';
import { WindowRows } from './window-rows.js';

it('keeps the texts of no tuple that has left it, nor any when it is closed', () => {
  const pool = new TextPool();
  const rows = new WindowRows();
  const window = new EntropyWindow(rows, pool).at(rows.open(2));
  const held = () =>
    Array.from({ length: 1_000 }, (_, id) => pool.of(id as TextId)).filter(
      (text) => text !== undefined && text !== '',
    );
  for (let step = 0; step < 100; step += 1) {
    window.agentId = `agent ${step}`;
    // Every third repeats the one before it.
    const n = step - (step % 3 === 2 ? 1 : 0);
    window.push({ intent: `intent ${n}`, tool_call: `tool ${n}`, action_status: 'success' });
  }
  expect(held().sort()).toEqual(['agent 99', 'intent 97', 'intent 99', 'tool 97', 'tool 99'].sort());
  window.releaseTexts();
  expect(held()).toEqual([]);
});
