import { describe, expect, it } from 'vitest';
import type { SubscribeAck } from '#contracts';
import type { TopicMerge } from './topic-merge';
import { applyAck, applyEvents, judgeFrame, type TopicState, WAITING } from './topic-state';

/** A topic whose data is the list of everything it was told. */
const listMerge: TopicMerge<unknown, unknown, unknown> = {
  start: (snapshot) => snapshot,
  apply: (data, events) => [...(data as unknown[]), ...events],
};

const snapshot: SubscribeAck = { status: 'ok', kind: 'snapshot', topic: 't', seq: 5, snapshot: ['a'] };
const live = (): TopicState => applyAck(listMerge, WAITING, snapshot);

describe('applyAck', () => {
  it('starts from a snapshot at its sequence number', () => {
    expect(live()).toMatchObject({ phase: 'live', seq: 5, data: ['a'], refusal: null });
  });

  it('continues with the deltas that were missed', () => {
    const deltas: SubscribeAck = {
      status: 'ok',
      kind: 'deltas',
      topic: 't',
      seq: 7,
      events: [
        { seq: 6, payload: 'b' },
        { seq: 7, payload: 'c' },
      ],
    };
    expect(applyAck(listMerge, live(), deltas)).toMatchObject({ seq: 7, data: ['a', 'b', 'c'] });
  });

  it('takes the new number even when nothing was missed', () => {
    const deltas: SubscribeAck = { status: 'ok', kind: 'deltas', topic: 't', seq: 5, events: [] };
    expect(applyAck(listMerge, live(), deltas)).toMatchObject({ seq: 5, data: ['a'], phase: 'live' });
  });

  it('drops what it had on a reset', () => {
    const reset: SubscribeAck = { status: 'ok', kind: 'reset', topic: 't', seq: 90, snapshot: ['z'] };
    expect(applyAck(listMerge, live(), reset)).toMatchObject({ seq: 90, data: ['z'] });
  });

  it('keeps what it had when the gateway refuses', () => {
    const refusal: SubscribeAck = {
      status: 'error',
      reason: 'session_not_found',
      detail: 'No such session.',
    };
    expect(applyAck(listMerge, live(), refusal)).toMatchObject({
      phase: 'refused',
      data: ['a'],
      refusal: { reason: 'session_not_found', detail: 'No such session.' },
    });
  });
});

describe('applyEvents', () => {
  it('merges what is newer and counts it', () => {
    const next = applyEvents(listMerge, live(), [
      { seq: 5, payload: 'known' },
      { seq: 6, payload: 'b' },
    ]);
    expect(next).toMatchObject({ seq: 6, data: ['a', 'b'], mergedCount: 2 });
  });

  it('merges an event once that came with two frames', () => {
    const twice = [6, 7, 7, 8].map((seq) => ({ seq, payload: `e${seq}` }));
    expect(applyEvents(listMerge, live(), twice)).toMatchObject({
      seq: 8,
      data: ['a', 'e6', 'e7', 'e8'],
      mergedCount: 4,
    });
  });

  it('returns the same state when everything is known', () => {
    const state = live();
    expect(applyEvents(listMerge, state, [{ seq: 4, payload: 'old' }])).toBe(state);
  });

  it('ignores events before the first snapshot', () => {
    expect(applyEvents(listMerge, WAITING, [{ seq: 1, payload: 'a' }])).toBe(WAITING);
  });
});

describe('judgeFrame', () => {
  const frame = (from_seq: number, to_seq: number) => ({ topic: 't', from_seq, to_seq, events: [] });

  it('takes the frame that follows', () => expect(judgeFrame(5, frame(6, 8))).toBe('take'));
  it('takes a frame that overlaps', () => expect(judgeFrame(5, frame(4, 8))).toBe('take'));
  it('knows a frame that is repeated', () => expect(judgeFrame(5, frame(3, 5))).toBe('known'));
  it('sees a gap', () => expect(judgeFrame(5, frame(7, 8))).toBe('gap'));
});
