/** Queries over the calls: the tail that no block holds yet, then the blocks, newest first. */
import type { Database } from 'better-sqlite3';
import { PreparedStatements } from '../prepared-statements.js';
import { BLOCK_CALLS, blockOf, keysOf } from './call-blocks.js';
import type { CallKeys, CallsFound, RawCall } from './proxy-protocol.js';

const COLUMNS = 'c.seq, c.call_id, c.agent_id, c.session_id, c.model, c.decision, c.started_at_ms, c.body';

/** Blocks that one query reads: what their calls have in common may be rarer than each of it. */
const BLOCKS_READ_MAX = 128;

export class CallReader {
  readonly #database: Database;
  readonly #sql: PreparedStatements;
  readonly #blocksReadMax: number;

  constructor(database: Database, blocksReadMax: number = BLOCKS_READ_MAX) {
    this.#database = database;
    this.#sql = new PreparedStatements(database);
    this.#blocksReadMax = blocksReadMax;
  }

  /** Newest first. Reads on until it has `limit`, or has read as many blocks as it may and says how far it looked. */
  calls(keys: CallKeys): CallsFound {
    // One snapshot: a block that is written between the two queries would hide its calls from both.
    return this.#database.transaction(() => {
      const recent = this.#fromTail(keys);
      const missing = keys.limit - recent.length;
      if (missing === 0) return { rows: recent, lookedDownTo: null };
      const { rows, lookedDownTo } = this.#fromBlocks({ ...keys, limit: missing });
      return { rows: [...recent, ...rows], lookedDownTo };
    })();
  }

  #fromTail(keys: CallKeys): RawCall[] {
    const last = this.#sql.get<{ block: number | null }>('SELECT max(block) AS block FROM call_blocks');
    const tailSeq = last === null || last.block === null ? 0 : (last.block + 1) * BLOCK_CALLS;
    return this.#between(tailSeq, Number.MAX_SAFE_INTEGER, keys);
  }

  #fromBlocks(keys: CallKeys): CallsFound {
    const rows: RawCall[] = [];
    let readCount = 0;
    for (const block of this.#blocksWith(keys)) {
      const firstSeq = block * BLOCK_CALLS;
      if (readCount === this.#blocksReadMax) return { rows, lookedDownTo: firstSeq + BLOCK_CALLS };
      readCount += 1;
      const missing = keys.limit - rows.length;
      rows.push(...this.#between(firstSeq, firstSeq + BLOCK_CALLS - 1, { ...keys, limit: missing }));
      if (rows.length === keys.limit) break;
    }
    return { rows, lookedDownTo: null };
  }

  /** Newest first, each looked for when it is asked for. */
  *#blocksWith(keys: CallKeys): Generator<number> {
    const blockKeys = keysOf(keys);
    const clauses = blockKeys.map(
      () => 'EXISTS (SELECT 1 FROM call_keys k WHERE k.block = b.block AND k.key = ?)',
    );
    const values: unknown[] = [...blockKeys];
    if (keys.sessionIds !== undefined) {
      clauses.push(
        "EXISTS (SELECT 1 FROM call_keys k WHERE k.block = b.block AND k.key IN (SELECT 's' || ? || ':' || value FROM json_each(?)))",
      );
      values.push(keys.tenantId, JSON.stringify(keys.sessionIds));
    }
    const narrow = (clause: string, value: number | null | undefined) => {
      if (value === undefined || value === null) return;
      clauses.unshift(clause);
      values.unshift(value);
    };
    narrow('b.last_started_ms >= ?', keys.fromMs);
    narrow('b.first_started_ms < ?', keys.toMs);
    narrow('b.block <= ?', keys.beforeSeq === null ? null : blockOf(keys.beforeSeq - 1));
    const sql = `SELECT b.block FROM call_blocks b WHERE ${clauses.join(' AND ')} ORDER BY b.block DESC`;
    for (const { block } of this.#sql.each<{ block: number }>(sql, values)) yield block;
  }

  #between(firstSeq: number, lastSeq: number, keys: CallKeys): RawCall[] {
    const { clauses, values } = conditions(keys);
    return this.#sql.all(
      `SELECT ${COLUMNS} FROM llm_calls c WHERE c.seq BETWEEN ? AND ? AND ${clauses} ORDER BY c.seq DESC LIMIT ?`,
      [firstSeq, lastSeq, ...values, keys.limit],
    );
  }
}

function conditions(keys: CallKeys): { clauses: string; values: unknown[] } {
  const clauses: string[] = [];
  const values: unknown[] = [];
  const narrow = (clause: string, value: string | number | null | undefined) => {
    if (value === undefined || value === null) return;
    clauses.push(clause);
    values.push(value);
  };
  narrow('c.tenant_id = ?', keys.tenantId);
  narrow('c.seq < ?', keys.beforeSeq);
  narrow('c.call_id = ?', keys.callId);
  narrow('c.session_id = ?', keys.sessionId);
  if (keys.sessionIds !== undefined) {
    clauses.push('c.session_id IN (SELECT value FROM json_each(?))');
    values.push(JSON.stringify(keys.sessionIds));
  }
  narrow('c.agent_id = ?', keys.agentId);
  narrow('c.model = ?', keys.model);
  narrow('c.decision = ?', keys.decision);
  if (keys.decisions !== undefined) {
    clauses.push(`c.decision IN (${keys.decisions.map(() => '?').join(', ')})`);
    values.push(...keys.decisions);
  }
  narrow('c.failed = ?', keys.failed === undefined ? undefined : Number(keys.failed));
  narrow('c.started_at_ms >= ?', keys.fromMs);
  narrow('c.started_at_ms < ?', keys.toMs);
  return { clauses: clauses.join(' AND '), values };
}
