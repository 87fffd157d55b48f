import { describe, expect, it } from 'vitest';
import type { EntropyTuple, SessionView } from '#contracts';
import { listRows } from './list-rows';
import { isFiltered, parseListSearch } from './list-search';
import { listedOf, waitingChanges } from './shown-order';
import { markTuples } from './tuple-groups';

describe('parseListSearch', () => {
  it('keeps what it knows and drops the rest', () => {
    expect(
      parseListSearch({ q: 42, severity: 'loop', control: 'nonsense', sort: 'cost', group: true, x: 1 }),
    ).toEqual({
      q: '42',
      severity: 'loop',
      sort: 'cost',
      group: true,
    });
  });

  it('does not count order and grouping as filters', () => {
    expect(isFiltered({ sort: 'cost', group: true })).toBe(false);
    expect(isFiltered({ q: 'a' })).toBe(true);
  });
});

describe('waitingChanges', () => {
  it('counts new rows and sees a changed order', () => {
    const shown = ['a', 'b'];
    expect(waitingChanges(shown, shown)).toEqual({ newCount: 0, isStale: false });
    expect(waitingChanges(shown, ['a', 'b'])).toEqual({ newCount: 0, isStale: false });
    expect(waitingChanges(shown, ['b', 'a'])).toEqual({ newCount: 0, isStale: true });
    expect(waitingChanges(shown, ['c', 'a', 'b', 'd'])).toEqual({ newCount: 2, isStale: true });
  });
});

describe('listedOf', () => {
  const listed = new Map(['a', 'b', 'new'].map((id) => [id, {}]));

  it('leaves out of a held order the sessions that left the list since', () => {
    expect(listedOf(['a', 'gone', 'b'], listed)).toEqual(['a', 'b']);
  });

  it('keeps the identity of an order that is all there', () => {
    const shown = ['b', 'a'];
    expect(listedOf(shown, listed)).toBe(shown);
  });
});

describe('listRows', () => {
  it('groups by cluster, the most urgent cluster first', () => {
    const sessions = new Map(
      Object.entries({ a: 'x', b: 'y', c: 'x' }).map(([id, cluster_id]) => [
        id,
        { session_id: id, cluster_id, severity: id === 'a' ? 'loop' : 'normal' } as SessionView,
      ]),
    );
    expect(listRows(['a', 'b', 'c'], sessions, new Map([['a', { kind: 'steps', agent_id: 'x' }]]))).toEqual([
      { kind: 'cluster', clusterId: 'x', sessionCount: 2, loopCount: 1 },
      { kind: 'session', id: 'a' },
      { kind: 'session', id: 'c' },
      { kind: 'cluster', clusterId: 'y', sessionCount: 1, loopCount: 0 },
      { kind: 'session', id: 'b' },
    ]);
  });
});

describe('markTuples', () => {
  it('[FR-9.3+] tells equal tuples by exact equality of all three parts', () => {
    const tuple = (
      intent: string,
      action_status: EntropyTuple['action_status'] = 'failure',
    ): EntropyTuple => ({
      intent,
      tool_call: 'grep',
      action_status,
    });
    const marks = markTuples([tuple('a'), tuple('a'), tuple('b'), tuple('a', 'success'), tuple('b')]);
    expect(marks.map((mark) => mark.repeatIndex)).toEqual([0, 0, 1, null, 1]);
    expect(marks.map((mark) => mark.continuesPrevious)).toEqual([false, true, false, false, false]);
    expect(marks.map((mark) => mark.occurrenceCount)).toEqual([2, 2, 2, 1, 2]);
  });
});
