/** Queries over the calls: the tail that no block holds yet, then the blocks, newest first. */
import type { Database } from 'better-sqlite3';
import { PreparedStatements } from '../prepared-statements.js';
import { type Condition, where } from '../where.js';
import { BLOCK_CALLS, blockOf, keysOf } from './call-blocks.js';
import type { CallKeys, CallsFound, RawCall } from './proxy-protocol.js';

const COLUMNS = 'c.seq, c.call_id, c.agent_id, c.session_id, c.model, c.decision, c.started_at_ms, c.body';
const HAS_KEY = 'EXISTS (SELECT 1 FROM call_keys k WHERE k.block = b.block AND k.key';

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
    const { sessionIds, tenantId, beforeSeq } = keys;
    const { sql, values } = where([
      ['b.block <= ?', beforeSeq === null ? null : blockOf(beforeSeq - 1)],
      ['b.first_started_ms < ?', keys.toMs],
      ['b.last_started_ms >= ?', keys.fromMs],
      ...keysOf(keys).map((key): Condition => [`${HAS_KEY} = ?)`, key]),
      [
        `${HAS_KEY} IN (SELECT 's' || ? || ':' || value FROM json_each(?)))`,
        sessionIds && [tenantId, JSON.stringify(sessionIds)],
      ],
    ]);
    const blocks = `SELECT b.block FROM call_blocks b WHERE ${sql} ORDER BY b.block DESC`;
    for (const { block } of this.#sql.each<{ block: number }>(blocks, values)) yield block;
  }

  #between(firstSeq: number, lastSeq: number, keys: CallKeys): RawCall[] {
    const { sessionIds, decisions, failed } = keys;
    const { sql, values } = where([
      ['c.seq BETWEEN ? AND ?', [firstSeq, lastSeq]],
      ['c.tenant_id = ?', keys.tenantId],
      ['c.seq < ?', keys.beforeSeq],
      ['c.call_id = ?', keys.callId],
      ['c.session_id = ?', keys.sessionId],
      ['c.session_id IN (SELECT value FROM json_each(?))', sessionIds && JSON.stringify(sessionIds)],
      ['c.agent_id = ?', keys.agentId],
      ['c.model = ?', keys.model],
      ['c.decision = ?', keys.decision],
      [`c.decision IN (${decisions?.map(() => '?').join(', ')})`, decisions],
      ['c.failed = ?', failed === undefined ? null : Number(failed)],
      ['c.started_at_ms >= ?', keys.fromMs],
      ['c.started_at_ms < ?', keys.toMs],
    ]);
    return this.#sql.all(`SELECT ${COLUMNS} FROM llm_calls c WHERE ${sql} ORDER BY c.seq DESC LIMIT ?`, [
      ...values,
      keys.limit,
    ]);
  }
}
