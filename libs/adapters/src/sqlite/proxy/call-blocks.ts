/**
 * Finding calls without an index on them. Calls are numbered in blocks of 1,024; when a block is full, what occurs in
 * it (call, session, agent ...) is written down once, sorted, as a run that is never touched again:
 *
 *     llm_calls  [ block 0 ][ block 1 ][ block 2 ][ tail ]
 *     call_keys   c.. s.. a..  c.. s.. a..  ...          (none yet: the tail is simply read)
 *
 * A query reads the tail and, newest first, those blocks that hold all it looks for. An index over the same random
 * ids dirties a page per call and costs a call about 25 us each; this costs it 5 us for all filters together, and a
 * look-up a probe (some 2 us) per block that is left out.
 *
 * A key may name a block without a match, since rows are checked again; a block is never left out that has one.
 */
import type { Database } from 'better-sqlite3';
import type { CallKeys } from './proxy-protocol.js';

/** Calls in a block: fewer cost more probes in a large table, more cost more rows to read where one matches. */
export const BLOCK_CALLS = 1_024;

/** The block that a seq falls into. */
export const blockOf = (seq: number): number => Math.floor(seq / BLOCK_CALLS);

const IN_BLOCK = 'FROM llm_calls WHERE seq BETWEEN @firstSeq AND @lastSeq';

/** A call id may come twice. What recurs is first brought down to a few combinations: each pass over the calls of the block costs. */
export const WRITE_KEYS = `
  WITH combinations AS MATERIALIZED (
    SELECT DISTINCT tenant_id, agent_id, model, decision, failed ${IN_BLOCK}
  )
  INSERT OR IGNORE INTO call_keys (block, key) SELECT @block, key FROM (
    SELECT 'c' || call_id AS key ${IN_BLOCK}
    UNION ALL SELECT DISTINCT 's' || tenant_id || ':' || session_id ${IN_BLOCK}
    UNION ALL SELECT DISTINCT 'a' || tenant_id || ':' || agent_id FROM combinations
    UNION ALL SELECT DISTINCT 'm' || tenant_id || ':' || model FROM combinations WHERE model IS NOT NULL
    UNION ALL SELECT DISTINCT 'd' || tenant_id || ':' || decision FROM combinations
    UNION ALL SELECT DISTINCT 'f' || tenant_id || ':' || failed FROM combinations
    UNION ALL SELECT DISTINCT 't' || tenant_id FROM combinations
  ) ORDER BY key`;

export const WRITE_BLOCK = `
  INSERT INTO call_blocks (block, first_started_ms, last_started_ms)
  SELECT @block, coalesce(min(started_at_ms), 0), coalesce(max(started_at_ms), 0) ${IN_BLOCK}`;

/**
 * Database version 12. Before it the key of a session was without its tenant: a query of another tenant read the blocks of the
 * session with the same name, and told by how far it had looked that there is one.
 */
export function callKeysByTenant(database: Database): void {
  database.exec(`
    DELETE FROM call_keys WHERE key >= 's' AND key < 't';
    INSERT INTO call_keys (block, key)
      SELECT DISTINCT seq / ${BLOCK_CALLS} AS block, 's' || tenant_id || ':' || session_id AS key FROM llm_calls
      WHERE block IN (SELECT block FROM call_blocks) ORDER BY block, key;
  `);
}

/** Keys, all of which a block must hold. */
export function keysOf(query: CallKeys): string[] {
  const { tenantId, callId, sessionId, agentId, model, decision, failed } = query;
  const keys = [`t${tenantId}`];
  if (callId !== undefined) keys.unshift(`c${callId}`);
  if (sessionId !== undefined) keys.unshift(`s${tenantId}:${sessionId}`);
  if (agentId !== undefined) keys.unshift(`a${tenantId}:${agentId}`);
  if (model !== undefined) keys.unshift(`m${tenantId}:${model}`);
  if (decision !== undefined) keys.unshift(`d${tenantId}:${decision}`);
  if (failed !== undefined) keys.unshift(`f${tenantId}:${failed ? 1 : 0}`);
  return keys;
}
