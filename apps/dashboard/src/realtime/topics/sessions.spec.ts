import { expect, test } from 'vitest';
import { LIMITS, type SessionView } from '#contracts';
import { sessionsMerge } from './sessions';

const session = (session_id: string, last_seen_ms: number, severity = 'normal') =>
  ({ session_id, last_seen_ms, severity, ended: false, control: { state: 'active' } }) as SessionView;

test('a page that stays open holds no more sessions than one that is opened now, and the same ones', () => {
  let data = sessionsMerge.start([session('loop', 0, 'loop'), session('quiet', 1)]);
  const { listedSessionsMax } = LIMITS;
  for (let at = 2; at < 3 * listedSessionsMax; at += 100)
    data = sessionsMerge.apply(
      data,
      Array.from({ length: 100 }, (_, more) => session(`job-${at + more}`, at + more)),
    );
  expect(data.size).toBeGreaterThanOrEqual(listedSessionsMax);
  expect(data.size).toBeLessThanOrEqual(1.1 * listedSessionsMax);
  expect(data.has('loop')).toBe(true);
  expect(data.has('quiet')).toBe(false);
  expect(data.has('job-2')).toBe(false);
  expect(data.has(`job-${3 * listedSessionsMax - 1}`)).toBe(true);
});

test('a session that the gateway has deleted is taken out, and is there again with its next row', () => {
  const [kept, old] = [session('kept', 1), session('old', 0)];
  const data = sessionsMerge.apply(sessionsMerge.start([kept, old]), [{ ...old, is_deleted: true }]);
  expect([...data.values()]).toEqual([kept]);
  expect(sessionsMerge.apply(data, [old]).get('old')).toBe(old);
});
