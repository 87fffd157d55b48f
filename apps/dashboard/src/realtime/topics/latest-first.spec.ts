import { describe, expect, it } from 'vitest';
import type { Incident } from '#contracts';
import { incidentsMerge, LATEST_COUNT_MAX } from './latest-first';

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
});
