/** Statements of one connection, prepared when first used. Bounded by the SQL texts of the program, which are few. */
import type { Database, Statement } from 'better-sqlite3';
import { type Condition, where } from './where.js';
import type { PageKeys } from './wire.js';

export class PreparedStatements {
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(database: Database) {
    this.#database = database;
  }

  all<T>(sql: string, values: readonly unknown[] = []): T[] {
    return this.prepare(sql).all(...values) as T[];
  }

  /** Row by row; to be read on or left before anything is written on this connection. */
  each<T>(sql: string, values: readonly unknown[] = []): IterableIterator<T> {
    return this.prepare(sql).iterate(...values) as IterableIterator<T>;
  }

  get<T>(sql: string, values: readonly unknown[] = []): T | null {
    return (this.prepare(sql).get(...values) as T | undefined) ?? null;
  }

  /** Keyset page by `seq`; a null in `equal` leaves that column free. */
  page<T>(select: string, equal: Record<string, string | null>, keys: PageKeys): T[] {
    return this.all(...pageOf(select, equal, keys));
  }

  /** The same row by row, as `each` gives them; @param clause narrows it further */
  eachOfPage<T>(
    select: string,
    equal: Record<string, string | null>,
    keys: PageKeys,
    clause: string | null = null,
  ): IterableIterator<T> {
    return this.each(...pageOf(select, equal, keys, clause));
  }

  prepare(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

function pageOf(
  select: string,
  equal: Record<string, string | null>,
  { limit, afterSeq, order }: PageKeys,
  clause: string | null = null,
): [sql: string, values: unknown[]] {
  const { sql, values } = where([
    ...Object.entries(equal).map(([column, value]): Condition => [`${column} = ?`, value]),
    [clause ?? '', clause && []],
    [order === 'asc' ? 'seq > ?' : 'seq < ?', afterSeq],
  ]);
  return [
    `${select} WHERE ${sql} ORDER BY seq ${order === 'asc' ? 'ASC' : 'DESC'} LIMIT ?`,
    [...values, limit],
  ];
}
