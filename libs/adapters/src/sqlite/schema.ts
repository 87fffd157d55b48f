/**
 * Tables, and how a database of an older version becomes one of this. `PRAGMA user_version` says how many of
 * MIGRATIONS a file has been through; each runs in a transaction of its own, so a crash leaves a whole version.
 * A migration that has been released is never edited: append another.
 */
import type { Database } from 'better-sqlite3';
import { controlAskers } from './control-askers.js';
import { controlOfProxied } from './control-of-proxied.js';
import { callKeysByTenant } from './proxy/call-blocks.js';
import { deliveryOrder } from './proxy/delivery-order.js';
import { proxyTables } from './proxy/proxy-tables.js';
import { semanticLoopTable } from './proxy/semantic-loop-table.js';
import { spendDayTable } from './proxy/spend-day-table.js';
import { sessionOrder } from './session-order.js';
import { stepKeySegments, stepKeyTable } from './step-key-table.js';
import type { StoreEvent } from './store-event.js';
import { unfoldedReleases } from './unfolded-releases.js';

/** `PRAGMA application_id` of our files ("OBSV"): a database of another program is refused, not migrated. */
const APPLICATION_ID = 0x4f425356;

/** Name in `counters` of the step up to which the session rows are folded. */
export const SESSION_CHECKPOINT = 'session_checkpoint_seq';

/** One step from version `index` to `index + 1`. */
export type Migration = (database: Database) => void;

/**
 * Steps carry as few indexes as the queries allow, since every insert pays for each; `stepKeyTable` does without two
 * of these. The rowid (`seq`) that ends every SQLite index orders a session's held steps.
 * `seq` is given by the writer, not by AUTOINCREMENT, which costs a second table write per row; `counters` holds
 * the floor below which no seq may be given again.
 */
const initialTables: Migration = (database) =>
  database.exec(`
    CREATE TABLE steps (
      seq INTEGER PRIMARY KEY,
      tenant_id TEXT NOT NULL,
      session_id TEXT NOT NULL,
      agent_id TEXT NOT NULL,
      trace_id TEXT NOT NULL,
      body_hash TEXT NOT NULL,
      received_at_ms INTEGER NOT NULL,
      held INTEGER NOT NULL CHECK (held IN (0, 1)),
      entropy_score REAL NOT NULL,
      entropy_severity TEXT NOT NULL,
      window_size INTEGER NOT NULL,
      rewritten_by TEXT,
      body TEXT NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX steps_once ON steps (tenant_id, trace_id, body_hash);
    CREATE INDEX steps_of_session ON steps (tenant_id, session_id);
    CREATE INDEX steps_held ON steps (tenant_id, session_id) WHERE held = 1;

    CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;

    CREATE TABLE sessions (
      tenant_id TEXT NOT NULL,
      session_id TEXT NOT NULL,
      agent_id TEXT NOT NULL,
      severity TEXT NOT NULL,
      ended INTEGER NOT NULL,
      last_seen_ms INTEGER NOT NULL,
      -- Lower-cased session id, agent id, last intent and last tool, a line each.
      search TEXT NOT NULL,
      view TEXT NOT NULL,
      PRIMARY KEY (tenant_id, session_id)
    ) STRICT;
    CREATE INDEX sessions_of_tenant ON sessions (tenant_id, last_seen_ms, session_id);
    CREATE INDEX sessions_by_age ON sessions (last_seen_ms);

    CREATE TABLE controls (
      tenant_id TEXT NOT NULL,
      session_id TEXT NOT NULL,
      state TEXT NOT NULL,
      operator_id TEXT,
      reason TEXT,
      since_ms INTEGER,
      expires_at_ms INTEGER,
      cooperative INTEGER NOT NULL,
      directive_seq INTEGER NOT NULL,
      directives TEXT NOT NULL,
      PRIMARY KEY (tenant_id, session_id)
    ) STRICT;
    CREATE INDEX controls_open ON controls (state) WHERE state <> 'active' OR directives <> '[]';

    CREATE TABLE alerts (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      tenant_id TEXT NOT NULL,
      session_id TEXT NOT NULL,
      at_ms INTEGER NOT NULL,
      event TEXT NOT NULL
    ) STRICT;
    CREATE INDEX alerts_of_tenant ON alerts (tenant_id);
    CREATE INDEX alerts_of_session ON alerts (tenant_id, session_id);

    CREATE TABLE alert_groups (
      tenant_id TEXT NOT NULL,
      session_id TEXT NOT NULL,
      agent_id TEXT NOT NULL,
      alert_count INTEGER NOT NULL,
      first_at_ms INTEGER NOT NULL,
      last_at_ms INTEGER NOT NULL,
      latest TEXT NOT NULL,
      PRIMARY KEY (tenant_id, session_id)
    ) STRICT;

    CREATE TABLE violations (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      tenant_id TEXT NOT NULL,
      at_ms INTEGER NOT NULL,
      event TEXT NOT NULL
    ) STRICT;
    CREATE INDEX violations_of_tenant ON violations (tenant_id);

    CREATE TABLE audit (
      tenant_id TEXT NOT NULL,
      seq INTEGER NOT NULL,
      at_ms INTEGER NOT NULL,
      operator_id TEXT NOT NULL,
      role TEXT NOT NULL,
      action TEXT NOT NULL,
      session_id TEXT,
      before_state TEXT,
      after_state TEXT,
      outcome TEXT NOT NULL,
      detail TEXT NOT NULL,
      prev_hash TEXT NOT NULL,
      hash TEXT NOT NULL,
      PRIMARY KEY (tenant_id, seq)
    ) STRICT;
    CREATE INDEX audit_of_session ON audit (tenant_id, session_id, seq);
    CREATE TRIGGER audit_keeps_entries BEFORE DELETE ON audit
      BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
    CREATE TRIGGER audit_keeps_words BEFORE UPDATE ON audit
      BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
    -- Latest entry per tenant: links the next one, and gives away a chain whose end was cut off.
    CREATE TABLE audit_heads (tenant_id TEXT PRIMARY KEY, seq INTEGER NOT NULL, hash TEXT NOT NULL) STRICT, WITHOUT ROWID;

    CREATE TABLE agent_keys (key_id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT;
    CREATE TABLE operators (token_id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT;
    CREATE TABLE logins (cookie_hash TEXT PRIMARY KEY, expires_at_ms INTEGER NOT NULL, record TEXT NOT NULL) STRICT;
    CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

    -- Written and emptied to learn whether the disk takes writes again.
    CREATE TABLE disk_probe (id INTEGER PRIMARY KEY, filler BLOB NOT NULL) STRICT;
  `);

export const MIGRATIONS: readonly Migration[] = [
  initialTables,
  proxyTables,
  semanticLoopTable,
  stepKeyTable,
  sessionOrder,
  spendDayTable,
  deliveryOrder,
  controlAskers,
  stepKeySegments,
  controlOfProxied,
  unfoldedReleases,
  callKeysByTenant,
];

/**
 * Brings the database to the newest version. Runs before anything else touches it.
 *
 * @param onEvent told before a database of an older version is changed
 * @throws Error, readable by the person who started the server, if the file is another program's or newer than us
 */
export function migrate(
  database: Database,
  migrations: readonly Migration[] = MIGRATIONS,
  onEvent: (event: StoreEvent) => void = () => {},
): void {
  const versionNow = database.pragma('user_version', { simple: true }) as number;
  const applicationId = database.pragma('application_id', { simple: true }) as number;
  const tableCount = database.prepare('SELECT count(*) FROM sqlite_master').pluck().get() as number;
  if (tableCount > 0 && applicationId !== APPLICATION_ID) {
    throw new Error('it is an SQLite database of another program');
  }
  if (versionNow > migrations.length) {
    throw new Error(
      `it was written by a newer Observatory (database version ${versionNow}; this one reads up to ${migrations.length})`,
    );
  }
  if (versionNow > 0 && versionNow < migrations.length)
    onEvent({ kind: 'migrating', fromVersion: versionNow, toVersion: migrations.length });
  for (const [index, apply] of migrations.entries()) {
    if (index < versionNow) continue;
    database.transaction(() => {
      apply(database);
      database.pragma(`application_id = ${APPLICATION_ID}`);
      database.pragma(`user_version = ${index + 1}`);
    })();
  }
}
