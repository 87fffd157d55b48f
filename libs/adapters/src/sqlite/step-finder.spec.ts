import { expect, it } from 'vitest';
import { bodyHash } from '#domain/decision-log';
import { buildStepRow } from '#testing';
import { STEP_COLUMNS } from './protocol.js';
import { migrate } from './schema.js';
import { SQLite } from './sqlite-library.js';
import { StepFinder } from './step-finder.js';
import { StepTable } from './step-table.js';

it('looks at so many entries of a trace id at most that is used for all, and finds one of its steps', () => {
  const database = new SQLite(':memory:');
  migrate(database);
  const steps = new StepTable(database);
  const rows = [1, 2, 3, 4].map((part) =>
    buildStepRow({ trace_id: 'all', body_hash: Buffer.from([0, 0, 0, part]).toString('base64url') }),
  );
  for (const row of rows) {
    steps.append(
      STEP_COLUMNS.map((column) => row[column]),
      0,
      1,
    );
  }
  steps.settle();
  const seqOf = (entriesMax: number) =>
    new StepFinder(database, entriesMax).ofTrace('default', 'all', null)?.seq;
  expect(seqOf(4)).toBe(4);
  // Entries stand in the order of their bodies' hashes, and the last of these is not among them.
  expect(seqOf(3)).toBe(3);
  const [row] = rows.slice(-1);
  expect(new StepFinder(database, 3).ofTrace('default', 'all', row?.body_hash ?? '')?.seq).toBe(4);
});

it('finds a held step beside whose entry stand those of many that were deleted', () => {
  const database = new SQLite(':memory:');
  migrate(database);
  const steps = new StepTable(database);
  const rows = Array.from({ length: 50 }, (_, at) =>
    buildStepRow({ trace_id: 'all', held: at === 0 ? 1 : 0, body_hash: bodyHash(`${at}`) }),
  );
  steps.append(
    rows.flatMap((row) => STEP_COLUMNS.map((column) => row[column])),
    0,
    rows.length,
  );
  steps.settle();
  database.exec('DELETE FROM steps WHERE held = 0');
  expect(new StepFinder(database).ofTrace('default', 'all', null)?.seq).toBe(1);
});
