/**
 * The list of a tenant's sessions, narrowed. What is filtered by stands in the index that gives the order, so that a
 * session which does not match costs no look at its row, and one search looks at so many at most: what is rare among
 * very many comes in pieces, each of which says how far it looked.
 */
import type { Database } from 'better-sqlite3';
import { PreparedStatements } from './prepared-statements.js';
import type { RawSession, SessionKeys, SessionPlace, SessionsFound } from './protocol.js';
import { where } from './where.js';

/** Looked at one after another before it is seen whether they were enough. */
const STRETCH_SESSIONS = 2_000;
/** Stretches that one search looks at. */
const STRETCHES_MAX = 50;

/** No session was seen later than this. */
const NEWEST: SessionPlace = { lastSeenMs: Number.MAX_SAFE_INTEGER, sessionId: '' };

const ORDER = 'ORDER BY last_seen_ms DESC, session_id DESC';
const BELOW = 'tenant_id = ? AND (last_seen_ms, session_id) < (?, ?)';

export class SessionFinder {
  readonly #database: Database;
  readonly #sql: PreparedStatements;
  readonly #stretchSessions: number;

  constructor(database: Database, stretchSessions: number = STRETCH_SESSIONS) {
    this.#database = database;
    this.#sql = new PreparedStatements(database);
    this.#stretchSessions = stretchSessions;
  }

  /** Most recently seen first. */
  find(keys: SessionKeys): SessionsFound {
    // One snapshot: a session seen again between two stretches would be in neither.
    return this.#database.transaction(() => {
      const rows: RawSession[] = [];
      let after = keys.after ?? NEWEST;
      for (let stretch = 0; stretch < STRETCHES_MAX; stretch += 1) {
        const end = this.#endOfStretch(keys.tenantId, after);
        rows.push(...this.#within(keys, after, end, keys.limit - rows.length));
        if (end === null || rows.length === keys.limit) return { rows, lookedUpTo: null };
        after = end;
      }
      return { rows, lookedUpTo: after };
    })();
  }

  /** The last session of the stretch after this one; null where fewer are left. */
  #endOfStretch(tenantId: string, after: SessionPlace): SessionPlace | null {
    return this.#sql.get(
      `SELECT last_seen_ms AS lastSeenMs, session_id AS sessionId FROM sessions WHERE ${BELOW} ${ORDER} LIMIT 1 OFFSET ?`,
      [tenantId, after.lastSeenMs, after.sessionId, this.#stretchSessions - 1],
    );
  }

  #within(keys: SessionKeys, after: SessionPlace, end: SessionPlace | null, limit: number): RawSession[] {
    const { sql, values } = where([
      [BELOW, [keys.tenantId, after.lastSeenMs, after.sessionId]],
      ['(last_seen_ms, session_id) >= (?, ?)', end && [end.lastSeenMs, end.sessionId]],
      ['severity = ?', keys.severity],
      ['agent_id = ?', keys.agentId],
      ['ended = ?', keys.ended === undefined ? null : Number(keys.ended)],
      ['instr(search, ?) > 0', keys.search || null],
    ]);
    return this.#sql.all(
      `SELECT tenant_id, session_id, last_seen_ms, view FROM sessions WHERE ${sql} ${ORDER} LIMIT ?`,
      [...values, limit],
    );
  }
}
