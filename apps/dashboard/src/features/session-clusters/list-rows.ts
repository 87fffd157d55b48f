/** The lines of the list: sessions, or headings of clusters with their sessions below. Pure. */
import type { SessionView } from '#contracts';
import type { LoopsNow } from '../../app/loops-now';

export type ListRow =
  | { kind: 'session'; id: string }
  | { kind: 'cluster'; clusterId: string; sessionCount: number; loopCount: number };

/**
 * Clusters in the order of their first session, so the most urgent cluster leads; sessions keep their order.
 * @param sessions null = not grouped
 * @param loops those that loop now
 */
export function listRows(
  order: readonly string[],
  sessions: ReadonlyMap<string, SessionView> | null,
  loops: LoopsNow,
): ListRow[] {
  if (!sessions) return order.map((id) => ({ kind: 'session', id }));
  const clusters = new Map<string, string[]>();
  for (const id of order) {
    const clusterId = sessions.get(id)?.cluster_id ?? '';
    const members = clusters.get(clusterId);
    if (members) members.push(id);
    else clusters.set(clusterId, [id]);
  }
  return [...clusters].flatMap(([clusterId, ids]): ListRow[] => [
    {
      kind: 'cluster',
      clusterId,
      sessionCount: ids.length,
      loopCount: ids.filter((id) => loops.has(id)).length,
    },
    ...ids.map((id): ListRow => ({ kind: 'session', id })),
  ]);
}
