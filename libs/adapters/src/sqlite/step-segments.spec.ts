import type { Database } from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { bodyHash } from '#domain/decision-log';
import { buildStepRow } from '#testing';
import { STEP_COLUMNS } from './protocol.js';
import { migrate } from './schema.js';
import { SQLite } from './sqlite-library.js';
import { StepTable } from './step-table.js';

const SEGMENT_STEPS = 8;

let database: Database;
let steps: StepTable;

const open = () => {
  steps = new StepTable(database, undefined, SEGMENT_STEPS);
};
const append = (trace: number) => {
  const row = buildStepRow({ trace_id: `trace-${trace}`, body_hash: bodyHash('same') });
  const values = STEP_COLUMNS.map((column) => row[column]);
  return steps.append(values, 0, 1);
};
const remove = (seq: number) => database.prepare('DELETE FROM steps WHERE seq = ?').run(seq);
const filtersKept = () => database.prepare('SELECT segment FROM step_key_filters').pluck().all();

/** Steps 1 to 20: the segments 0 and 1 are full, 2 is not. */
beforeEach(() => {
  database = new SQLite(':memory:');
  migrate(database);
  open();
  for (let trace = 1; trace <= 20; trace += 1) append(trace);
  steps.settle();
});

describe('filters of segments', () => {
  it('are kept of those that are full, and believed', () => {
    expect(filtersKept()).toEqual([0, 1]);
    open();
    expect([1, 15, 16, 20].map(append)).toEqual([
      [0, 1],
      [0, 15],
      [0, 16],
      [0, 20],
    ]);
    database.exec('UPDATE step_key_filters SET bytes = zeroblob(length(bytes)) WHERE segment = 1');
    open();
    expect([1, 15, 20].map(append)).toEqual([[0, 1], null, [0, 20]]);
  });

  it('are made again where they are missing, as after an upgrade, and kept from then on', () => {
    database.exec('DELETE FROM step_key_filters');
    open();
    expect([1, 15, 20].map(append)).toEqual([
      [0, 1],
      [0, 15],
      [0, 20],
    ]);
    steps.settle();
    expect(filtersKept()).toEqual([0, 1]);
  });

  it('go with the last step of their segment', () => {
    for (let seq = 1; seq <= 9; seq += 1) remove(seq);
    append(21);
    steps.settle();
    expect(filtersKept()).toEqual([1]);
    expect([1, 10].map(append)).toEqual([null, [0, 10]]);
  });

  it('go with the last step of their segment where an older one is held for good', () => {
    for (let trace = 21; trace <= 40; trace += 1) append(trace);
    for (let seq = 2; seq <= 31; seq += 1) remove(seq);
    append(41);
    steps.settle();
    expect(filtersKept()).toEqual([0, 4]);
    open();
    expect([1, 30, 32].map(append)).toEqual([[0, 1], null, [0, 32]]);
  });

  it.each(['zeroblob(0)', 'substr(bytes, 1, 3)', 'zeroblob(40)'])(
    'are made again where they are cut off or too long: %s',
    (bytes) => {
      database.exec(`UPDATE step_key_filters SET bytes = ${bytes} WHERE segment = 1`);
      open();
      expect([1, 8, 15].map(append)).toEqual([
        [0, 1],
        [0, 8],
        [0, 15],
      ]);
      steps.settle();
      const lengths = database.prepare('SELECT DISTINCT length(bytes) FROM step_key_filters').pluck().all();
      expect(lengths).toEqual([16]);
    },
  );

  it('go with all steps, and know those that come after', () => {
    for (let seq = 1; seq <= 20; seq += 1) remove(seq);
    steps.settle();
    append(21);
    steps.settle();
    expect(filtersKept()).toEqual([]);
    expect([1, 21].map(append)).toEqual([null, [0, 21]]);
    open();
    expect([21].map(append)).toEqual([[0, 21]]);
  });
});
