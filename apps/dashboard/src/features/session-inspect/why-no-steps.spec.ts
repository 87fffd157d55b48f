import { expect, test } from 'vitest';
import type { SessionView } from '#contracts';
import { buildSessionView } from '#testing';
import { type WhyNoSteps, whyNoSteps } from './why-no-steps';

const row = (changes: Partial<SessionView>): SessionView =>
  buildSessionView({
    step_count: 0,
    last_tool: '',
    last_status: 'success',
    tokens: 0,
    cost_usd: 0,
    cost_unknown: false,
    ended: false,
    ...changes,
  });
const { control } = row({});

test.each<[string, Partial<SessionView>, WhyNoSteps]>([
  ['of which nothing is known', {}, null],
  ['whose first call is under way', { last_status: 'pending' }, 'answer'],
  ['that was ended meanwhile', { last_status: 'pending', ended: true }, null],
  ['whose first step waits for its tool', { last_status: 'pending', last_tool: 'run', cost_usd: 1 }, 'tool'],
  ['whose calls make no steps', { tokens: 7 }, 'stepless'],
  ['whose calls cost what nobody knows', { cost_unknown: true }, 'stepless'],
  // An agent that asked for a person with its first message has not said what that cost.
  ['whose first step is held', { cost_unknown: true, control: { ...control, held_count: 1 } }, 'held'],
  [
    'held before its answer was shown',
    { last_status: 'pending', control: { ...control, held_count: 1 } },
    'held',
  ],
])('a session %s', (_what, changes, why) => {
  expect(whyNoSteps(row(changes))).toBe(why);
});
