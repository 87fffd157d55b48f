/**
 * The table `spend_days`, from which months are summed up instead of from their hours. Database version 6. The hours of
 * an older database are added to it one by one behind its next calls, see spend-table.ts.
 */
import type { Database } from 'better-sqlite3';
import { DAY_MS } from '#kernel';
import { SPEND_COLUMNS } from './proxy-protocol.js';

/** Name in `counters`: hours before this one are in their days, and no others. */
export const ADDED_BEFORE = 'spend_days_hour_ms';

export const dayOf = (atMs: number): number => Math.floor(atMs / DAY_MS) * DAY_MS;

/** As those of `spend_hours`. */
export const SPEND_DAY_COLUMNS = SPEND_COLUMNS.map((column) => (column === 'hour_ms' ? 'day_ms' : column));

/** All tenants with sums, found leaping: the keys of the sums begin with them. */
export const TENANTS = `WITH RECURSIVE tenants (id) AS (
  SELECT min(tenant_id) FROM spend_hours
  UNION ALL
  SELECT (SELECT min(tenant_id) FROM spend_hours WHERE tenant_id > id) FROM tenants WHERE id IS NOT NULL
)`;

export function spendDayTable(database: Database): void {
  database.exec(`
    CREATE TABLE spend_days (
      tenant_id TEXT NOT NULL,
      day_ms INTEGER NOT NULL,
      agent_id TEXT NOT NULL,
      -- "" for calls that name none.
      model TEXT NOT NULL,
      call_count INTEGER NOT NULL,
      unpriced_call_count INTEGER NOT NULL,
      input_tokens INTEGER NOT NULL,
      cached_input_tokens INTEGER NOT NULL,
      output_tokens INTEGER NOT NULL,
      reasoning_tokens INTEGER NOT NULL,
      cost_nano_usd INTEGER NOT NULL,
      PRIMARY KEY (tenant_id, day_ms, agent_id, model)
    ) STRICT, WITHOUT ROWID;
  `);
}
