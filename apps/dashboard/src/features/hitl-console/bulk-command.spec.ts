import { expect, test } from 'vitest';
import type { ControlState, SessionView } from '#contracts';
import { buildSessionView } from '#testing';
import { ApiError } from '../../api';
import { concernedBy, countByAgent, SENT_AT_ONCE, sendToEach } from './bulk-command';

const session = (session_id: string, state: ControlState = 'active', ended = false): SessionView => {
  const view = buildSessionView({ session_id });
  return { ...view, ended, control: { ...view.control, state } };
};
const NEVER = new AbortController().signal;
const ids = (sessions: readonly SessionView[]) => sessions.map(({ session_id }) => session_id);

test('a command concerns those for whom it changes anything', () => {
  const sessions = [
    session('runs'),
    session('pausing', 'pause_requested'),
    session('paused', 'paused'),
    session('over', 'active', true),
    session('over and held', 'paused', true),
    session('terminated', 'terminated'),
  ];
  expect(ids(concernedBy('pause', sessions))).toEqual(['runs']);
  expect(ids(concernedBy('resume', sessions))).toEqual(['pausing', 'paused', 'over and held']);
  expect(ids(concernedBy('terminate', sessions))).toEqual(['runs', 'pausing', 'paused']);
});

test('agents are counted, those with most sessions first', () => {
  const of = (agent_id: string) => ({ ...session('s'), agent_id });
  expect(countByAgent([of('b'), of('c'), of('a'), of('c')])).toEqual([
    ['c', 2],
    ['a', 1],
    ['b', 1],
  ]);
});

test('each is sent once, some at a time, and those that fail are named with the reason', async () => {
  const all = Array.from({ length: 20 }, (_, at) => session(`s${at}`));
  const sent: string[] = [];
  const counts: number[] = [];
  let underWay = 0;
  let most = 0;
  const send = async (id: string) => {
    sent.push(id);
    underWay += 1;
    most = Math.max(most, underWay);
    await Promise.resolve();
    underWay -= 1;
    if (id === 's3' || id === 's17') throw new Error(`${id} is over`);
  };
  const { unsent } = await sendToEach(all, send, NEVER, (count) => counts.push(count));
  expect(sent).toEqual(ids(all));
  expect(most).toBe(SENT_AT_ONCE);
  expect(counts).toEqual(all.map((_, at) => at + 1));
  expect(unsent.map(({ session: { session_id }, message }) => [session_id, message])).toEqual([
    ['s3', 's3 is over'],
    ['s17', 's17 is over'],
  ]);
});

test('one that is terminated or gone by now is over, and none that it failed for', async () => {
  const all = [session('runs'), session('ends'), session('goes')];
  const send = async (id: string) => {
    if (id === 'ends') throw new ApiError('session_terminated', 'It is terminated.', 409);
    if (id === 'goes') throw new ApiError('session_not_found', 'No such session.', 404);
  };
  expect(await sendToEach(all, send, NEVER, () => {})).toEqual({ overCount: 2, unsent: [] });
});

test.each([
  ['does not answer', new ApiError('timeout', 'No answer.', 0), false],
  ['lets nobody in', new ApiError('unauthorized', 'Log in.', 401), true],
])('nothing more is sent to a gateway that %s', async (_, error, isLoginOver) => {
  const all = Array.from({ length: 20 }, (_, at) => session(`s${at}`));
  const sent: string[] = [];
  const send = async (id: string) => {
    sent.push(id);
    if (sent.length > 3) throw error;
  };
  const { unsent } = await sendToEach(all, send, NEVER, () => {});
  expect(sent.length).toBeLessThanOrEqual(3 + SENT_AT_ONCE);
  expect(ids(unsent.map((one) => one.session)).sort()).toEqual(ids(all.slice(3)).sort());
  for (const one of unsent) expect(one).toMatchObject({ message: error.message, isLoginOver });
});

test('whoever thinks better of it stops what is not sent yet', async () => {
  const all = Array.from({ length: 20 }, (_, at) => session(`s${at}`));
  const stop = new AbortController();
  const sent: string[] = [];
  const send = async (id: string) => {
    sent.push(id);
    if (id === 's7') stop.abort();
  };
  const { unsent } = await sendToEach(all, send, stop.signal, () => {});
  expect([...sent, ...ids(unsent.map((one) => one.session))]).toEqual(ids(all));
  expect(unsent.length).toBeGreaterThan(0);
  expect(new Set(unsent.map(({ message }) => message))).toEqual(new Set(['You stopped it.']));
});
