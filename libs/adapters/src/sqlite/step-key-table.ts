/**
 * The table `step_keys`: two numbers to a step, by which its session and its trace find it. Database version 4; in segments,
 * each beside a filter of what it holds, since version 9.
 *
 * @see docs/decisions/0012-steps-are-indexed-in-bulk.md
 * @see docs/decisions/0023-the-index-of-steps-has-segments.md
 */
import type { Database } from 'better-sqlite3';
import { SEGMENT_STEPS, segmentOf } from './step-key.js';

/** Name in `counters` of the step up to which `step_keys` is whole; it may hold entries of later ones already. */
export const INDEXED_SEQ = 'step_keys_seq';

/** At most so many steps are to be indexed when the writer opens the database; costs three look-ups. */
export function unindexedCountMax(database: Database): number {
  const count = database
    .prepare(
      `SELECT (SELECT max(seq) FROM steps) - max((SELECT min(seq) FROM steps) - 1,
         ifnull((SELECT value FROM counters WHERE name = ?), 0))`,
    )
    .pluck()
    .get(INDEXED_SEQ) as number | null;
  return Math.max(0, count ?? 0);
}

/** A database of an older version is indexed by the writer when it opens it. */
export function stepKeyTable(database: Database): void {
  database.exec(`
    CREATE TABLE step_keys (
      key INTEGER NOT NULL,
      part INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (key, part, seq)
    ) STRICT, WITHOUT ROWID;
    DROP INDEX steps_once;
    DROP INDEX steps_of_session;
  `);
}

/** Of a million steps, whose entries take 100 MB while they are sorted; for each such part all of them are looked through. */
const SEGMENTS_SORTED_TOGETHER = 4;

/** Sorts the entries there are, some seconds for a million steps. Their filters are made by the writer when it opens. */
export function stepKeySegments(database: Database): void {
  database.exec(`
    ALTER TABLE step_keys RENAME TO step_keys_at_once;
    CREATE TABLE step_keys (
      segment INTEGER NOT NULL,
      key INTEGER NOT NULL,
      part INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (segment, key, part, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE step_key_filters (segment INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
  `);
  const nextSeq = database.prepare('SELECT min(seq) FROM steps WHERE seq >= ?').pluck();
  const sort = database.prepare(
    `INSERT INTO step_keys SELECT seq / ${SEGMENT_STEPS}, key, part, seq FROM step_keys_at_once
     WHERE seq / ${SEGMENT_STEPS} BETWEEN ? AND ? ORDER BY 1, 2, 3, 4`,
  );
  let seq = nextSeq.get(0) as number | null;
  while (seq !== null) {
    const first = segmentOf(seq, SEGMENT_STEPS);
    const beyond = first + SEGMENTS_SORTED_TOGETHER;
    sort.run(first, beyond - 1);
    seq = nextSeq.get(beyond * SEGMENT_STEPS) as number | null;
  }
  database.exec('DROP TABLE step_keys_at_once');
}
