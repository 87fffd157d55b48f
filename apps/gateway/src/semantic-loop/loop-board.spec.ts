import { describe, expect, it } from 'vitest';
import {
  type PageQuery,
  SEMANTIC_ALERT_OVER_AFTER_MS,
  type SemanticLoopEvent,
  type SessionKey,
  type SessionView,
  sessionKey,
} from '#contracts';
import { buildSemanticLoop, buildSessionView, FakeClock } from '#testing';
import { LoopBoard } from './loop-board.js';

const viewOf = (state: SessionView['control']['state'], ended = false): SessionView => {
  const view = buildSessionView({ ended });
  return { ...view, control: { ...view.control, state } };
};

function start(sessionCountMax?: number) {
  const clock = new FakeClock();
  const views = new Map<SessionKey, SessionView>();
  const board = new LoopBoard(clock, (key) => views.get(key), sessionCountMax);
  /** As the ladder counts them. */
  const counts = new Map<string, number>();
  const beginAnew = (session_id: string) => counts.delete(session_id);
  const loop = (session_id: string, action: SemanticLoopEvent['action'] = 'alerted') => {
    const occurrence = (counts.get(session_id) ?? 0) + 1;
    counts.set(session_id, occurrence);
    return buildSemanticLoop({ session_id, action, at_ms: clock.nowMs(), occurrence });
  };
  const raise = (session_id: string, action?: SemanticLoopEvent['action'], tenantId = 't') => {
    const event = loop(session_id, action);
    board.raise(tenantId, event);
    return event;
  };
  const show = (session_id: string, view: SessionView) => views.set(sessionKey('t', session_id), view);
  return { clock, board, beginAnew, loop, raise, show, views };
}

describe('the board of open semantic alerts', () => {
  it('has the first and the latest loop of a session, and none that only was hinted at', () => {
    const { clock, board, raise } = start();
    raise('hinted', 'hinted');
    const first = raise('s');
    clock.advance(1);
    raise('s');
    const latest = raise('s', 'paused');
    expect(board.open('t')).toEqual([first, latest]);
    expect(board.open('other')).toEqual([]);
  });

  it('begins anew with a session that loops again after its loop was over, though nobody has looked meanwhile', () => {
    const { clock, board, beginAnew, raise } = start();
    raise('s', 'hinted');
    raise('s');
    clock.advance(24 * SEMANTIC_ALERT_OVER_AFTER_MS);
    beginAnew('s');
    raise('s', 'hinted');
    const first = raise('s');
    const latest = raise('s', 'paused');
    expect(board.open('t')).toEqual([first, latest]);
  });

  it('lets go of what asked nothing again for a while, unless it is stopped, and of what has ended', () => {
    const { clock, board, raise, show } = start();
    for (const id of ['silent', 'paused', 'over', 'unknown']) raise(id);
    show('silent', viewOf('active'));
    show('paused', viewOf('paused'));
    show('over', viewOf('paused', true));
    const ids = () => board.open('t').map(({ session_id }) => session_id);
    expect(ids()).toEqual(['silent', 'paused', 'unknown']);
    clock.advance(SEMANTIC_ALERT_OVER_AFTER_MS);
    expect(ids()).toEqual(['paused']);
  });

  it('is bounded, and whoever has most gives way', () => {
    const { board, raise } = start(3);
    raise('small', 'alerted', 'few');
    for (const id of ['a', 'b', 'c', 'd']) raise(id);
    expect(board.open('few')).toHaveLength(1);
    expect(board.open('t').map(({ session_id }) => session_id)).toEqual(['c', 'd']);
    expect(board.evictedCount).toBe(2);
  });

  it('finds again after a restart what loops now, and what is stopped however long ago', async () => {
    const { clock, board, loop, show, views } = start();
    show('stopped', viewOf('paused'));
    show('others', viewOf('active'));
    const first = loop('stopped', 'paused');
    const stored = [first];
    clock.advance(2 * SEMANTIC_ALERT_OVER_AFTER_MS);
    stored.unshift(loop('quiet'));
    for (let count = 0; count < 1_200; count += 1) stored.unshift(loop('others'));
    const latest = loop('stopped', 'paused');
    stored.unshift(latest);
    const store = {
      semanticLoops: async ({ session_id, limit, cursor }: PageQuery & { session_id?: string }) => {
        const from = Number(cursor ?? 0);
        const items = stored.filter((event) => !session_id || event.session_id === session_id);
        const next_cursor = from + limit < items.length ? String(from + limit) : null;
        return { items: items.slice(from, from + limit), next_cursor };
      },
    };
    await board.recover(store, views);
    expect(new Set(board.open('t').map(({ session_id }) => session_id))).toEqual(
      new Set(['stopped', 'quiet', 'others']),
    );
    expect(board.open('t')).toHaveLength(5);
    expect(board.open('t').filter(({ session_id }) => session_id === 'stopped')).toEqual([first, latest]);
  });
});
