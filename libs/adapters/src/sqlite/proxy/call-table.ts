/** LLM calls and their hourly sums in SQLite. All methods run inside the writer's transaction. */
import type { Database, Statement } from 'better-sqlite3';
import type { Primitive } from '../wire.js';
import { BLOCK_CALLS, blockOf, WRITE_BLOCK, WRITE_KEYS } from './call-blocks.js';
import { DocumentTable } from './document-table.js';
import { CALL_COLUMNS, type CallBatch, callWidth } from './proxy-protocol.js';
import { SpendTable } from './spend-table.js';

/** Name in `counters`: no seq up to this may be given again, though its row may be gone. */
const SEQ_FLOOR = 'call_seq_floor';

/** Keeps nothing between calls, so that nothing need be put back when a transaction is undone. */
export class CallTable {
  readonly #insert: Statement;
  readonly #spend: SpendTable;
  readonly #documents: DocumentTable;
  readonly #lastSeq: Statement;
  readonly #firstSeq: Statement;
  readonly #lastBlock: Statement;
  readonly #writeKeys: Statement;
  readonly #writeBlock: Statement;
  readonly #keepFloor: Statement;
  readonly #deleteKeys: Statement;
  readonly #deleteBlocks: Statement;

  constructor(database: Database) {
    this.#insert = database.prepare(
      `INSERT INTO llm_calls (seq, ${CALL_COLUMNS.join(', ')}) VALUES (?${', ?'.repeat(callWidth)})`,
    );
    this.#spend = new SpendTable(database);
    this.#documents = new DocumentTable(database);
    this.#lastSeq = database
      .prepare(
        `SELECT max(coalesce((SELECT max(seq) FROM llm_calls), 0),
                    coalesce((SELECT value FROM counters WHERE name = '${SEQ_FLOOR}'), 0))`,
      )
      .pluck();
    this.#firstSeq = database.prepare('SELECT min(seq) FROM llm_calls').pluck();
    this.#lastBlock = database.prepare('SELECT max(block) FROM call_blocks').pluck();
    this.#writeKeys = database.prepare(WRITE_KEYS);
    this.#writeBlock = database.prepare(WRITE_BLOCK);
    this.#keepFloor = database.prepare(
      `INSERT INTO counters (name, value) VALUES ('${SEQ_FLOOR}', ?)
       ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)`,
    );
    this.#deleteKeys = database.prepare('DELETE FROM call_keys WHERE block < ?');
    this.#deleteBlocks = database.prepare('DELETE FROM call_blocks WHERE block < ?');
  }

  /** @returns seq of the first call; the others follow without a gap */
  append({ rows, rowCount, spend, documents }: CallBatch): number {
    const firstSeq = (this.#lastSeq.get() as number) + 1;
    const row: Primitive[] = new Array(callWidth + 1);
    for (let index = 0, at = 0; index < rowCount; index += 1) {
      row[0] = firstSeq + index;
      for (let column = 1; column <= callWidth; column += 1, at += 1) row[column] = rows[at] as Primitive;
      this.#insert.run(row);
    }
    this.#spend.add(spend);
    for (const change of documents) this.#documents.change(change);
    const openBlock = blockOf(firstSeq + rowCount);
    if (openBlock > blockOf(firstSeq)) this.#writeBlocksBelow(openBlock);
    return firstSeq;
  }

  /** To be called in every transaction that deletes calls. @param lastSeq the highest of those deleted */
  noteDeleted(lastSeq: number): void {
    this.#keepFloor.run(lastSeq);
    const firstLeft = this.#firstSeq.get() as number | null;
    const goneBelow = blockOf(firstLeft ?? lastSeq + 1);
    this.#deleteKeys.run(goneBelow);
    this.#deleteBlocks.run(goneBelow);
  }

  #writeBlocksBelow(end: number): void {
    const last = this.#lastBlock.get() as number | null;
    const first = blockOf(this.#firstSeq.get() as number);
    for (let block = last === null ? first : Math.max(first, last + 1); block < end; block += 1) {
      const range = { block, firstSeq: block * BLOCK_CALLS, lastSeq: (block + 1) * BLOCK_CALLS - 1 };
      this.#writeKeys.run(range);
      this.#writeBlock.run(range);
    }
  }
}
