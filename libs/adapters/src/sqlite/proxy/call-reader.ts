/** Queries over the calls: the tail that no block holds yet, then the blocks, newest first. */
import type { Database } from 'better-sqlite3';
import { PreparedStatements } from '../prepared-statements.js';
import { BLOCK_CALLS, blockOf, keysOf } from './call-blocks.js';
import type { CallKeys, RawCall } from './proxy-protocol.js';

const COLUMNS = 'c.seq, c.call_id, c.agent_id, c.session_id, c.model, c.decision, c.started_at_ms, c.body';

export class CallReader {
  readonly #database: Database;
  readonly #sql: PreparedStatements;

  constructor(database: Database) {
    this.#database = database;
    this.#sql = new PreparedStatements(database);
  }

  /** Newest first. Reads on until it has `limit`: what is rare among very many calls takes some ten milliseconds. */
  calls(keys: CallKeys): RawCall[] {
    // One snapshot: a block that is written between the two queries would hide its calls from both.
    return this.#database.transaction(() => {
      const recent = this.#fromTail(keys);
      const missing = keys.limit - recent.length;
      return missing === 0 ? recent : [...recent, ...this.#fromBlocks({ ...keys, limit: missing })];
    })();
  }

  #fromTail(keys: CallKeys): RawCall[] {
    const last = this.#sql.get<{ block: number | null }>('SELECT max(block) AS block FROM call_blocks');
    const tailSeq = last === null || last.block === null ? 0 : (last.block + 1) * BLOCK_CALLS;
    const { clauses, values } = conditions(keys);
    return this.#sql.all(
      `SELECT ${COLUMNS} FROM llm_calls c WHERE c.seq >= ? AND ${clauses} ORDER BY c.seq DESC LIMIT ?`,
      [tailSeq, ...values, keys.limit],
    );
  }

  #fromBlocks(keys: CallKeys): RawCall[] {
    const blockKeys = keysOf(keys);
    const blocks = blockKeys.map(
      () => 'EXISTS (SELECT 1 FROM call_keys k WHERE k.block = b.block AND k.key = ?)',
    );
    const blockValues: unknown[] = [...blockKeys];
    const narrow = (clause: string, value: number | null | undefined) => {
      if (value === undefined || value === null) return;
      blocks.unshift(clause);
      blockValues.unshift(value);
    };
    narrow('b.last_started_ms >= ?', keys.fromMs);
    narrow('b.first_started_ms < ?', keys.toMs);
    narrow('b.block <= ?', keys.beforeSeq === null ? null : blockOf(keys.beforeSeq));
    const { clauses, values } = conditions(keys);
    return this.#sql.all(
      `SELECT ${COLUMNS} FROM call_blocks b CROSS JOIN llm_calls c NOT INDEXED
         ON c.seq BETWEEN b.block * ${BLOCK_CALLS} AND b.block * ${BLOCK_CALLS} + ${BLOCK_CALLS - 1}
       WHERE ${blocks.join(' AND ')} AND ${clauses} ORDER BY b.block DESC, c.seq DESC LIMIT ?`,
      [...blockValues, ...values, keys.limit],
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
  narrow('c.agent_id = ?', keys.agentId);
  narrow('c.model = ?', keys.model);
  narrow('c.decision = ?', keys.decision);
  narrow('c.failed = ?', keys.failed === undefined ? undefined : Number(keys.failed));
  narrow('c.started_at_ms >= ?', keys.fromMs);
  narrow('c.started_at_ms < ?', keys.toMs);
  return { clauses: clauses.join(' AND '), values };
}
