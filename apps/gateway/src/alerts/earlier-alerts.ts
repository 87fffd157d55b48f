/** What the store says at a start of what an earlier process told, or may not have told. Without the store: nothing, which is counted. */
import type { AlertDelivery, ProxyStore } from '#contracts';
import type { AlertTelemetry } from './alert-telemetry.js';

/** Of each tenant, looked at on start: far longer than the second by which it is kept late that they were sent. */
const LATEST_NOTICES_MS = 10_000;
const LATEST_NOTICES_PAGE = 500;
const LATEST_NOTICES_MAX = 10_000;

type Store<Method extends keyof ProxyStore> = Pick<ProxyStore, Method>;
type Telemetry = Pick<AlertTelemetry, 'storeFailed'>;

/** Newest first within each tenant. Never rejects. */
export async function latestNotices(
  store: Store<'deliveries'>,
  tenantIds: Iterable<string>,
  telemetry: Telemetry,
): Promise<AlertDelivery[]> {
  const latest: AlertDelivery[] = [];
  try {
    for (const tenantId of tenantIds) latest.push(...(await latestNoticesOf(store, tenantId)));
  } catch (error) {
    telemetry.storeFailed('delivery', error);
  }
  return latest;
}

async function latestNoticesOf(store: Store<'deliveries'>, tenant_id: string): Promise<AlertDelivery[]> {
  const latest: AlertDelivery[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.deliveries({ tenant_id, limit: LATEST_NOTICES_PAGE, cursor });
    latest.push(...page.items);
    cursor = page.next_cursor ?? undefined;
    const spanMs = (latest[0]?.created_at_ms ?? 0) - (latest.at(-1)?.created_at_ms ?? 0);
    if (spanMs > LATEST_NOTICES_MS) break;
  } while (cursor !== undefined && latest.length < LATEST_NOTICES_MAX);
  return latest;
}

/** Open incidents, as they were told when they began. Never rejects. */
export async function openIncidents(store: Store<'openIncidents'>, telemetry: Telemetry) {
  try {
    return (await store.openIncidents()).map(({ tenant_id, incident }) => ({
      kind: 'incident' as const,
      tenant_id,
      agent_id: incident.agent_id,
      session_id: incident.session_id,
      at_ms: incident.at_ms,
      incident_id: incident.incident_id,
      score: incident.breakdown.score,
      threshold: incident.threshold,
    }));
  } catch (error) {
    telemetry.storeFailed('incidents', error);
    return [];
  }
}
