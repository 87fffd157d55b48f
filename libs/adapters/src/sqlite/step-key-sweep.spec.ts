import type { Database } from 'better-sqlite3';
import { beforeEach, expect, it } from 'vitest';
import { buildStepRow } from '#testing';
import { STEP_COLUMNS } from './protocol.js';
import { migrate } from './schema.js';
import { SQLite } from './sqlite-library.js';
import { SWEPT_SEQ } from './step-key-sweep.js';
import { StepTable } from './step-table.js';

const SEGMENT_STEPS = 4_000;

let database: Database;
let steps: StepTable;

const append = (count: number, held: 0 | 1 = 0) => {
  const rows = Array.from({ length: count }, () => buildStepRow({ held }));
  const values = rows.flatMap((row) => STEP_COLUMNS.map((column) => row[column]));
  steps.append(values, 0, count);
};
const removeUpTo = (seq: number) =>
  database.prepare('DELETE FROM steps WHERE seq <= ? AND held = 0').run(seq);
const pieces = () => {
  let count = 0;
  while (steps.sweepKeys()) count += 1;
  return count;
};
const read = (sql: string) => database.prepare(sql).pluck().get();
const entriesUpTo = (seq: number) => read(`SELECT count(*) FROM step_keys WHERE seq <= ${seq}`);

beforeEach(() => {
  database = new SQLite(':memory:');
  migrate(database);
  steps = new StepTable(database, undefined, SEGMENT_STEPS);
});

it('leaves the entries of deleted steps until they are a quarter of those that stay, then takes all, segment after segment', () => {
  append(10_000);
  steps.settle();
  removeUpTo(1_900);
  expect(pieces()).toBe(0);
  expect(entriesUpTo(1_900)).toBe(3_800);
  removeUpTo(6_000);
  // 16,000 entries stand in the two segments that are gone through, 4,096 of them in a piece.
  expect(pieces()).toBe(4);
  expect(entriesUpTo(6_000)).toBe(0);
  expect(read('SELECT count(*) FROM step_keys')).toBe(8_000);
  expect(read(`SELECT value FROM counters WHERE name = '${SWEPT_SEQ}'`)).toBe(6_000);
});

it('passes over what is held, and takes its entries with its segment', () => {
  append(10, 1);
  append(6_000);
  steps.settle();
  removeUpTo(3_000);
  pieces();
  expect(entriesUpTo(3_000)).toBe(20);
  database.exec('UPDATE steps SET held = 0');
  removeUpTo(5_000);
  pieces();
  expect(entriesUpTo(5_000)).toBe(0);
});

it('finds nothing of steps that were deleted before they were indexed, and waits where an older one is held', () => {
  append(500);
  removeUpTo(499);
  expect(pieces()).toBe(0);
  steps.settle();
  expect(read('SELECT count(*) FROM step_keys')).toBe(2);
  append(1, 1);
  append(500);
  removeUpTo(900);
  pieces();
  expect(read('SELECT count(*) FROM step_keys')).toBe(0);
  steps.settle();
  expect(entriesUpTo(900)).toBe(800);
  pieces();
  expect(entriesUpTo(900)).toBe(2);
});

it('begins anew after a crash in its middle', () => {
  append(8_000);
  steps.settle();
  removeUpTo(7_000);
  steps.sweepKeys();
  expect(entriesUpTo(7_000)).toBeGreaterThan(0);
  steps = new StepTable(database, undefined, SEGMENT_STEPS);
  pieces();
  expect(entriesUpTo(8_000)).toBe(2_000);
});

it('takes in pieces, too, what was held when its neighbours went', () => {
  append(6_000, 1);
  append(20_000);
  steps.settle();
  removeUpTo(14_000);
  pieces();
  expect(entriesUpTo(14_000)).toBe(12_000);
  database.exec('UPDATE steps SET held = 0');
  removeUpTo(22_000);
  let [left, most] = [entriesUpTo(26_000) as number, 0];
  while (steps.sweepKeys()) {
    const now = entriesUpTo(26_000) as number;
    [most, left] = [Math.max(most, left - now), now];
  }
  expect(left).toBe(8_000);
  expect(most).toBe(4_096);
});

it('goes on while a step that it has passed waits to be deleted, which was held until now', () => {
  append(3_000, 1);
  append(8_000);
  steps.settle();
  removeUpTo(7_000);
  pieces();
  expect(read(`SELECT value FROM counters WHERE name = '${SWEPT_SEQ}'`)).toBe(7_000);
  database.exec('UPDATE steps SET held = 0 WHERE seq = 1');
  database.exec('DELETE FROM steps WHERE seq BETWEEN 7001 AND 10900');
  pieces();
  expect(entriesUpTo(10_900)).toBe(6_000);
});

it('does a piece again whose transaction was undone', () => {
  append(6_000);
  steps.settle();
  removeUpTo(3_000);
  steps.begin();
  database.exec('BEGIN');
  expect(steps.sweepKeys()).toBe(true);
  database.exec('ROLLBACK');
  steps.begin();
  pieces();
  expect(entriesUpTo(3_000)).toBe(0);
});
