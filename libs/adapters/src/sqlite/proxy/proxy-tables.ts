/** Tables of the proxy: database version 2. */
import type { Database } from 'better-sqlite3';

/**
 * `llm_calls` has no index but its seq: every index over random ids (call, session) would cost a call more than its
 * own row does. `call_keys` and `call_blocks` stand in for them, see call-blocks.ts.
 *
 * The hour comes second in the key of `spend_hours`: sums are asked for by time, and one batch touches one place.
 */
export function proxyTables(database: Database): void {
  database.exec(`
    CREATE TABLE llm_calls (
      seq INTEGER PRIMARY KEY,
      tenant_id TEXT NOT NULL,
      call_id TEXT NOT NULL,
      agent_id TEXT NOT NULL,
      session_id TEXT NOT NULL,
      model TEXT,
      decision TEXT NOT NULL,
      failed INTEGER NOT NULL CHECK (failed IN (0, 1)),
      started_at_ms REAL NOT NULL,
      -- What has no column here, see call-body.ts.
      body TEXT NOT NULL
    ) STRICT;
    CREATE TABLE call_blocks (
      block INTEGER PRIMARY KEY,
      -- Of its calls: when the first and the last of them started.
      first_started_ms REAL NOT NULL,
      last_started_ms REAL NOT NULL
    ) STRICT;
    CREATE TABLE call_keys (block INTEGER NOT NULL, key TEXT NOT NULL, PRIMARY KEY (block, key)) STRICT, WITHOUT ROWID;

    CREATE TABLE spend_hours (
      tenant_id TEXT NOT NULL,
      hour_ms INTEGER NOT NULL,
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
      PRIMARY KEY (tenant_id, hour_ms, agent_id, model)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE incidents (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      tenant_id TEXT NOT NULL,
      incident_id TEXT NOT NULL,
      agent_id TEXT NOT NULL,
      reactivated_by TEXT,
      reactivated_at_ms INTEGER,
      body TEXT NOT NULL,
      UNIQUE (tenant_id, incident_id)
    ) STRICT;
    CREATE INDEX incidents_of_tenant ON incidents (tenant_id);
    CREATE INDEX incidents_of_agent ON incidents (tenant_id, agent_id);
    CREATE INDEX incidents_open ON incidents (tenant_id, agent_id) WHERE reactivated_at_ms IS NULL;

    CREATE TABLE alert_deliveries (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      tenant_id TEXT NOT NULL,
      delivery_id TEXT NOT NULL,
      channel_id TEXT NOT NULL,
      state TEXT NOT NULL,
      created_at_ms INTEGER NOT NULL,
      body TEXT NOT NULL,
      UNIQUE (tenant_id, delivery_id)
    ) STRICT;
    CREATE INDEX alert_deliveries_of_tenant ON alert_deliveries (tenant_id);
    CREATE INDEX alert_deliveries_of_state ON alert_deliveries (tenant_id, state);
    CREATE INDEX alert_deliveries_of_channel ON alert_deliveries (tenant_id, channel_id);
    CREATE INDEX alert_deliveries_pending ON alert_deliveries (state) WHERE state = 'pending';

    CREATE TABLE documents (
      kind TEXT NOT NULL,
      tenant_id TEXT NOT NULL,
      id TEXT NOT NULL,
      body TEXT NOT NULL,
      updated_at_ms INTEGER NOT NULL,
      PRIMARY KEY (kind, tenant_id, id)
    ) STRICT;
  `);
}
