import { describe, expect, it } from 'vitest';
import type { AlertGroup } from '#contracts';
import { byBeginning, newsIn } from './alert-news';

const group = (session_id: string, first_at_ms: number, alert_count = 1) =>
  ({ session_id, first_at_ms, alert_count }) as AlertGroup;
const groupsOf = (...groups: AlertGroup[]) =>
  byBeginning(new Map(groups.map((one) => [one.session_id, one])));

describe('what is news', () => {
  it('is not what there was when the page was opened', () => {
    expect(newsIn(groupsOf(group('a', 1)), null)).toEqual([]);
  });

  it('is a session that loops, once, however many alerts it raises', () => {
    const before = groupsOf(group('a', 1));
    const looping = groupsOf(group('a', 1, 2), group('b', 5));
    expect(newsIn(looping, before)).toEqual([group('b', 5)]);
    expect(newsIn(groupsOf(group('a', 1, 3), group('b', 5, 2)), looping)).toEqual([]);
  });

  it('is a session that loops anew: its row from before is still there on a page left open', () => {
    expect(newsIn(groupsOf(group('a', 9)), groupsOf(group('a', 1, 7)))).toEqual([group('a', 9)]);
  });

  it('is who waits for a person for the second time', () => {
    const [nobody, one] = [new Map(), new Map([['a', 'waits']])];
    expect(newsIn(one, nobody)).toEqual(['waits']);
    expect(newsIn(nobody, one)).toEqual([]);
    expect(newsIn(one, nobody)).toEqual(['waits']);
  });
});
