/** What only the history in memory must do: hold its bounds and count what they cost. */
import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '#kernel';
import { FakeClock } from '#testing';
import { promptEntry, vectorAt } from '../../../testing/src/prompt-history.conformance.js';
import { MemoryPromptHistory, type MemoryPromptHistoryOptions } from './memory-prompt-history.js';
import { PROMPT_CHARS_MAX } from './prompt-chars.js';

const of = (tenant: number | string, session = 's') => ({
  tenant_id: `tenant-${tenant}`,
  session_id: session,
});

function start(options: Partial<MemoryPromptHistoryOptions> = {}) {
  const clock = new FakeClock();
  const history = new MemoryPromptHistory({ clock, dimension: 8, ...options });
  const idsIn = async (tenant: number, session?: string): Promise<string[]> =>
    (await history.similar(of(tenant, session), vectorAt(0), '')).map(({ request_id }) => request_id);
  return { clock, history, idsIn };
}

describe('MemoryPromptHistory', () => {
  it('stays flat over 10,000 tenants that go on for hours', async () => {
    const { clock, history } = start({ scopeCountMax: 1_000, bytesMax: 4_000_000 });
    const sizes: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      for (let tenant = 0; tenant < 10_000; tenant += 1) {
        for (let turn = 0; turn < 2; turn += 1)
          await history.record(of(tenant), promptEntry(`${round}-${turn}`, turn, 'p'.repeat(300)));
        clock.advance(100);
      }
      sizes.push(history.counts().bytes);
    }
    const counts = history.counts();
    expect(counts.scopes).toBe(1_000);
    expect(counts.evicted_capacity).toBe(39_000);
    expect(counts.evicted_memory).toBe(0);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(20_000);
    expect(counts.bytes).toBeLessThan(4_000_000);
  });

  it('lets the least recently used scopes go when there are too many, and counts them', async () => {
    const { history, idsIn } = start({ scopeCountMax: 2 });
    for (const session of ['a', 'b', 'a', 'c']) await history.record(of(1, session), promptEntry(session));
    expect([await idsIn(1, 'a'), await idsIn(1, 'b'), await idsIn(1, 'c')]).toEqual([['a'], [], ['c']]);
    expect(history.counts()).toMatchObject({ scopes: 2, evicted_capacity: 1, evicted_memory: 0 });
  });

  it('lets them go when their texts are too large together, but never the one in use', async () => {
    const { history, idsIn } = start({ bytesMax: 40_000 });
    const text = 'x'.repeat(PROMPT_CHARS_MAX);
    for (const tenant of [1, 2, 3]) await history.record(of(tenant), promptEntry('a', 0, text));
    expect([await idsIn(1), await idsIn(2), await idsIn(3)]).toEqual([[], ['a'], ['a']]);
    for (const id of ['b', 'c', 'd', 'e']) await history.record(of(3), promptEntry(id, 1, text));
    expect((await idsIn(3)).sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(history.counts()).toMatchObject({ scopes: 1, evicted_memory: 2, evicted_capacity: 0 });
  });

  it('of one tenant stays, however many sessions another has, and however long its texts', async () => {
    for (const bounds of [{ scopeCountMax: 100 }, { bytesMax: 100_000 }]) {
      const { history, idsIn } = start(bounds);
      await history.record(of(1), promptEntry('a'));
      const text = 'x'.repeat(1_000);
      for (let n = 0; n < 500; n += 1) await history.record(of('noisy', `${n}`), promptEntry('b', 0, text));
      expect(await idsIn(1)).toEqual(['a']);
    }
  });

  it('is as small as before once all is forgotten', async () => {
    const { clock, history, idsIn } = start();
    for (let tenant = 0; tenant < 50; tenant += 1)
      for (let turn = 0; turn < 7; turn += 1) await history.record(of(tenant), promptEntry(`r${turn}`, turn));
    expect(history.counts().bytes).toBeGreaterThan(50 * 5 * 200);
    clock.advance(HOUR_MS);
    expect(await idsIn(0)).toEqual([]);
    clock.advance(1);
    expect(history.counts()).toEqual({
      scopes: 0,
      bytes: 0,
      evicted_capacity: 0,
      evicted_memory: 0,
      cut_prompts: 0,
    });
  });

  it('counts prompts it has cut', async () => {
    const { history } = start();
    await history.record(of(1), promptEntry('a', 0, 'x'.repeat(PROMPT_CHARS_MAX)));
    expect(history.counts().cut_prompts).toBe(0);
    await history.record(of(1), promptEntry('b', 0, 'x'.repeat(PROMPT_CHARS_MAX + 1)));
    expect(history.counts().cut_prompts).toBe(1);
  });

  it.each([
    ['back', -HOUR_MS],
    ['ahead', HOUR_MS],
  ])('keeps a prompt for its time, no shorter and no longer, when the clock is set %s', async (_, byMs) => {
    const { clock, history, idsIn } = start();
    await history.record(of(1), promptEntry('a'));
    clock.set(clock.nowMs() + byMs);
    clock.advance(HOUR_MS - 1);
    expect(await idsIn(1)).toEqual(['a']);
    clock.advance(1);
    expect(await idsIn(1)).toEqual([]);
  });
});
