import { describe, expect, it } from 'vitest';
import type { Incident, SemanticLoopEvent } from '#contracts';
import { incidentsMerge, LATEST_COUNT_MAX, semanticLoopsMerge } from './latest-first';

const incident = (incident_id: string, reactivated_by: string | null = null) =>
  ({ incident_id, reactivated_by }) as Incident;

describe('latest-first topics', () => {
  it('put what is new first and change what is known where it stands', () => {
    const start = incidentsMerge.start([incident('b'), incident('a')]);
    const next = incidentsMerge.apply(start, [incident('a', 'ana'), incident('c')]);
    expect(next.map(({ incident_id }) => incident_id)).toEqual(['c', 'b', 'a']);
    expect(next[2]?.reactivated_by).toBe('ana');
    expect(next[1]).toBe(start[0]);
  });

  it('forget the oldest beyond their bound', () => {
    const many = Array.from({ length: LATEST_COUNT_MAX }, (_, index) => incident(`old-${index}`));
    const next = incidentsMerge.apply(incidentsMerge.start(many), [incident('new')]);
    expect(next).toHaveLength(LATEST_COUNT_MAX);
    expect(next[0]?.incident_id).toBe('new');
    expect(next.at(-1)?.incident_id).toBe(`old-${LATEST_COUNT_MAX - 2}`);
  });

  it('forget the alerts of the longest ago of sessions without number', () => {
    const loops = Array.from(
      { length: 12 * LATEST_COUNT_MAX },
      (_, at) => ({ session_id: `s-${at}`, event_id: `${at}`, action: 'alerted' }) as SemanticLoopEvent,
    );
    const data = semanticLoopsMerge.apply(semanticLoopsMerge.start([]), loops);
    expect(data).toHaveLength(10 * LATEST_COUNT_MAX);
    expect(data[0]?.event_id).toBe(`${12 * LATEST_COUNT_MAX - 1}`);
  });

  it('keep the alert of a session that loops in words, and its first loop, however much loops elsewhere', () => {
    const loop = (session_id: string, event_id: string, occurrence: number, action = 'alerted') =>
      ({ session_id, event_id, occurrence, action }) as SemanticLoopEvent;
    let data = semanticLoopsMerge.start([
      loop('quiet', 'second', 2, 'paused'),
      loop('quiet', 'first', 1, 'hinted'),
      loop('quiet', 'second of before', 2),
      loop('quiet', 'first of before', 1, 'hinted'),
    ]);
    for (let index = 0; index < 3 * LATEST_COUNT_MAX; index += 1)
      data = semanticLoopsMerge.apply(data, [
        loop('noisy', `n-${index}`, index + 1),
        loop(`h-${index}`, `h-${index}`, 1, 'hinted'),
      ]);
    const ofQuiet = data.filter(({ session_id }) => session_id === 'quiet');
    expect(ofQuiet.map(({ event_id }) => event_id)).toEqual(['second', 'first']);
    expect(data.map(({ event_id }) => event_id)).toContain('n-0');
    expect(data.length).toBeLessThanOrEqual(LATEST_COUNT_MAX + 3);
  });
});
