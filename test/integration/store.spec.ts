/** The store on its real threads, built into dist, and what survives a kill -9. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { SqliteStore, type StoreEvent } from '#adapters/sqlite';
import { systemClock } from '#kernel';
import { buildAuditDraft, buildSessionView, buildStepRow } from '#testing';
import { temporaryFolder } from '#testing/temporary-folder';
import { describeDecisionStore } from '../../libs/testing/src/decision-store.conformance.js';

const WORKER_URL = new URL('../../dist/libs/adapters/src/sqlite/sqlite-worker.js', import.meta.url);
const CHILD = fileURLToPath(new URL('./store/append-forever.mjs', import.meta.url));

async function openStore(path: string, onEvent?: (event: StoreEvent) => void): Promise<SqliteStore> {
  const store = new SqliteStore({ path, clock: systemClock, workerUrl: WORKER_URL, onEvent });
  await store.open();
  return store;
}

describeDecisionStore('SQLite, in its threads', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'observatory-store-'));
  return {
    open: () => openStore(join(folder, 'o.db')),
    remove: () => rm(folder, { recursive: true }),
  };
});

describe('a store in its threads', () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = temporaryFolder();
    path = join(folder, 'o.db');
  });

  it('has every acknowledged step after a kill -9, and no lock stays behind', async () => {
    const promised: number[] = [];
    for (let life = 1; life <= 3; life += 1) {
      const child = spawn(process.execPath, [CHILD, path], { stdio: ['ignore', 'pipe', 'inherit'] });
      promised.push(...(await killAfter(child, 300)));
    }
    const store = await openStore(path);
    const stored = new Set((await store.stepsAfter(0, 1_000_000)).map((step) => step.seq));
    await store.close();
    expect(promised.length).toBeGreaterThanOrEqual(900);
    expect(promised.filter((seq) => !stored.has(seq))).toEqual([]);
    expect(new Set(promised).size).toBe(promised.length);
  });

  it('refuses to share its data directory with a process that is alive', async () => {
    const child = spawn(process.execPath, [CHILD, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface(child.stdout);
    await once(lines, 'line');
    await expect(openStore(path)).rejects.toThrow('another Observatory process is using it');
    child.kill('SIGKILL');
    await once(child, 'exit');
    await (await openStore(path)).close();
  });

  it('rejects to open with the reason its thread gives', async () => {
    await expect(openStore('/dev/null/o.db')).rejects.toThrow(/^cannot open the store \/dev\/null\/o\.db: /);
    const absent = new SqliteStore({ path, clock: systemClock, workerUrl: new URL('absent.js', WORKER_URL) });
    await expect(absent.open()).rejects.toThrow('thread failed');
  });

  it('looks a session up for its next step while others search through all of them', async () => {
    const store = await openStore(path);
    const rows = Array.from({ length: 5_000 }, (_, index) => ({
      tenant_id: 'default',
      view: buildSessionView({ session_id: `session-${index}`, last_seen_ms: index }),
    }));
    await store.saveSessions(rows, 0);
    /** How many of 100 searches were through before the session that was asked for behind them. */
    const overtaken = async (): Promise<number> => {
      let doneCount = 0;
      const search = async () => {
        await store.sessions({ tenant_id: 'default', q: 'nothing is called this', limit: 50 });
        doneCount += 1;
      };
      const searches = Array.from({ length: 100 }, search);
      const found = await store.session('default', 'session-7');
      const doneBefore = doneCount;
      await Promise.all(searches);
      expect(found?.session_id).toBe('session-7');
      return doneBefore;
    };
    // Of several attempts one: a machine that halts this thread before it has asked lets the searches go ahead.
    await expect.poll(overtaken, { timeout: 20_000 }).toBeLessThan(50);
    await store.close();
  });

  it('keeps its log within a bound though reads never stop', async () => {
    const store = await openStore(path);
    const views = Array.from({ length: 10_000 }, (_, index) => ({
      tenant_id: 'default',
      view: buildSessionView({ session_id: `session-${index}`, last_seen_ms: index }),
    }));
    await store.saveSessions(views, 0);
    const audit = Array.from({ length: 1_000 }, () => buildAuditDraft());
    await store.commitControl({ audit });
    let hasEnded = false;
    const endlessly = async (read: () => Promise<unknown>) => {
      while (!hasEnded) await read();
    };
    const reads = Array.from({ length: 3 }, () => [
      endlessly(() => store.sessions({ tenant_id: 'default', q: 'nothing is called this', limit: 50 })),
      endlessly(() => store.verifyAudit('default')),
    ]);
    const body = JSON.stringify('x'.repeat(100_000));
    let logBytesMax = 0;
    for (let written = 0; written < 300_000_000; written += 20 * body.length) {
      await store.appendSteps(Array.from({ length: 20 }, () => buildStepRow({ body })));
      logBytesMax = Math.max(logBytesMax, statSync(`${path}-wal`).size);
    }
    hasEnded = true;
    await Promise.all(reads.flat());
    await store.close();
    expect(logBytesMax).toBeLessThan(130_000_000);
  }, 60_000);

  it('keeps the order of batches that overlap in flight', async () => {
    const store = await openStore(path);
    const calls = Array.from({ length: 12 }, () => Array.from({ length: 500 }, () => buildStepRow()));
    const commits = (await Promise.all(calls.map((rows) => store.appendSteps(rows)))).flat();
    expect(commits.map((commit) => commit.seq)).toEqual(
      Array.from({ length: 6_000 }, (_, index) => index + 1),
    );
    const { items } = await store.steps({
      tenant_id: 'default',
      session_id: 'session-1',
      limit: 500,
      order: 'asc',
    });
    expect(items.map((step) => step.trace_id)).toEqual(calls[0]?.map((row) => row.trace_id));
    await store.close();
  });
});

/** Kills the child once it printed `lineCount` lines. @returns all whole lines it got out, as numbers */
async function killAfter(
  child: ChildProcessByStdio<null, Readable, null>,
  lineCount: number,
): Promise<number[]> {
  let text = '';
  let lines = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk;
    lines = text.split('\n').length - 1;
    if (lines >= lineCount) child.kill('SIGKILL');
  });
  await once(child, 'close');
  return text.split('\n').slice(0, lines).map(Number);
}
