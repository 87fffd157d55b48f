import fc from 'fast-check';
import { expect, it } from 'vitest';
import { agentScope } from '#contracts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#kernel';
import { FakeClock } from '#testing';
import { AgentActivity } from './agent-activity.js';

const SCOPE = agentScope('default', 'crawler');
/** Shortly before a day, a month and a year begin. */
const T0 = Date.UTC(2026, 11, 31, 21, 30);

const act = fc.oneof(
  fc.record({ advanceMs: fc.nat(5 * HOUR_MS) }),
  fc.record({ setBackMs: fc.integer({ min: 1, max: 2 * HOUR_MS }) }),
  fc.record({ agoMs: fc.nat(DAY_MS), cost: fc.nat(1_000_000) }),
  fc.record({ restoredAgoMs: fc.nat(2 * DAY_MS), cost: fc.nat(1_000_000) }),
);

it('what was spent today and this month is the sum of their hours, whatever came in which order', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
      const clock = new FakeClock(T0);
      const activity = new AgentActivity(clock);
      for (const one of acts) {
        const nowMs = clock.nowMs();
        if ('advanceMs' in one) clock.advance(one.advanceMs);
        // As little as no wrong clock is suspected for.
        else if ('setBackMs' in one) clock.set(nowMs - (one.setBackMs % MINUTE_MS));
        else if ('agoMs' in one)
          activity.end(SCOPE, {
            isError: false,
            refusal: null,
            costMicroUsd: one.cost,
            spentAtMs: nowMs - one.agoMs,
          });
        else activity.restore(SCOPE, hourOf(nowMs - one.restoredAgoMs), one.cost);
        const { day, month } = activity.spent(SCOPE);
        const sum = (isIn: (hourMs: number) => boolean) =>
          [...activity.hours(SCOPE)]
            .filter(({ hourMs }) => isIn(hourMs))
            .reduce((total, { costMicroUsd }) => total + costMicroUsd, 0);
        const now = new Date(clock.nowMs());
        const isSame = (hourMs: number, chars: number) =>
          new Date(hourMs).toISOString().slice(0, chars) === now.toISOString().slice(0, chars);
        expect({ day, month }).toEqual({
          day: sum((hourMs) => isSame(hourMs, '2026-12-31'.length)),
          month: sum((hourMs) => isSame(hourMs, '2026-12'.length)),
        });
      }
    }),
  );
});

const hourOf = (atMs: number): number => atMs - (atMs % HOUR_MS);
