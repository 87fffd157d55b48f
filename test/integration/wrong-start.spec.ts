/** Starts that cannot go well: each ends soon, with the setting that is at fault and what to do about it. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { buildDecisionLog } from '#testing';
import { mountSmallDisk } from './small-disk.js';
import { makeDataDir, type RunningGateway, type StartOptions, startGateway } from './start-gateway.js';

const PAGE_BYTES = 4_096;
const MIB = 1024 * 1024;

const folder = mkdtempSync(join(tmpdir(), 'observatory-wrong-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the person sees of a start that must fail. */
async function refusal(options: StartOptions): Promise<string> {
  let gateway: RunningGateway;
  try {
    gateway = await startGateway(options);
  } catch (error) {
    return (error as Error).message;
  }
  await gateway.stop();
  throw new Error('it started');
}

describe('a data folder that cannot be used stops the start with its setting and a remedy', () => {
  const place = (name: string) => join(folder, name);
  test.each([
    [
      'is a file',
      () => {
        writeFileSync(place('file'), '');
        return place('file');
      },
      'is a file, where a folder is needed; choose another place',
    ],
    ['lies below a file', () => join(place('file'), 'sub'), 'is a file, where a folder is needed'],
    ['lies where folders cannot be', () => '/proc/observatory', 'choose another place'],
    [
      'is a link to nowhere',
      () => {
        symlinkSync(place('nowhere'), place('link'));
        return place('link');
      },
      'is a link to a place that does not exist; make that folder',
    ],
    [
      'holds another file under the name of the database',
      () => {
        mkdirSync(place('text'));
        writeFileSync(join(place('text'), 'observatory.db'), 'no database at all');
        return place('text');
      },
      'it is not an SQLite database; move it away',
    ],
    [
      'holds another file under the name of the lock',
      () => {
        mkdirSync(place('lock'));
        writeFileSync(join(place('lock'), 'observatory.db.lock'), 'no lock at all');
        return place('lock');
      },
      'observatory.db.lock is not the lock it should be; remove that file',
    ],
  ])('that %s', async (_title, prepare, remedy) => {
    const dataDir = prepare();
    const output = await refusal({ dataDir });
    expect(output).toContain('exited with 1');
    expect(output).toContain(remedy);
    expect(output).toContain(`OBSERVATORY_DATA_DIR, here ${dataDir}, says where the store is.`);
    // Words, and no error of the framework's in front of them.
    expect(output).not.toContain('"stack"');
  });

  describe('that is on a small disk', () => {
    const disk = mountSmallDisk(64 * MIB);
    afterEach(() => {
      if (disk !== null) execFileSync('mount', ['-o', 'remount,rw', disk.mountPoint]);
      disk?.empty();
    });
    const says = async (reason: string) => {
      const dataDir = disk?.mountPoint as string;
      expect(await refusal({ dataDir })).toContain(reason);
      expect(await refusal({ dataDir })).toContain(`OBSERVATORY_DATA_DIR, here ${dataDir}, says where`);
    };

    test.skipIf(disk === null).each([
      ['for no database', 128 * 1024, 'the disk is full; make room, or choose another place.'],
      ['for no credentials', 3 * MIB, 'so nobody could log in: the disk is full'],
    ])('with room %s', async (_what, freeBytes, reason) => {
      disk?.fill(freeBytes);
      await says(reason);
    });

    test.skipIf(disk === null)('that was filled since, its reserve and all', async () => {
      const gateway = await startGateway({ dataDir: disk?.mountPoint as string });
      await gateway.stop();
      rmSync(join(disk?.mountPoint as string, 'observatory.db.reserve'));
      disk?.fill(0);
      await says('the disk is full or fails');
    });

    test.skipIf(disk === null)('that is read-only', async () => {
      execFileSync('mount', ['-o', 'remount,ro', disk?.mountPoint as string]);
      await says('the disk is read-only');
    });
  });
});

test('a database that is damaged in the middle, or cut short, is named together with what to do', async () => {
  const dataDir = join(folder, 'damaged');
  const gateway = await startGateway({ dataDir });
  const log = (serial: number) =>
    buildDecisionLog({
      meta: { trace_id: `d-${serial}` },
      action: { tool_output_summary: 'x'.repeat(4_000) },
    });
  for (let round = 0; round < 4; round += 1) {
    const logs = Array.from({ length: 250 }, (_, index) => log(round * 250 + index));
    expect((await gateway.ingest(logs)).ok).toBe(true);
  }
  await gateway.stop();
  const path = join(dataDir, 'observatory.db');
  const whole = readFileSync(path);
  const damaged = Buffer.from(whole);
  const middle = Math.floor(whole.length / 2 / PAGE_BYTES) * PAGE_BYTES;
  damaged.fill(0xa5, middle, middle + 40 * PAGE_BYTES);
  writeFileSync(path, damaged);
  const namedDamage =
    /damaged\/observatory\.db.*: it is damaged .*; move it away together with its -wal file, then restore a backup/;
  expect(await refusal({ dataDir })).toMatch(namedDamage);

  writeFileSync(path, whole);
  truncateSync(path, Math.floor(whole.length / 2));
  expect(await refusal({ dataDir })).toMatch(namedDamage);
});

test('a limit of virtual memory, as shared machines have, is named', () => {
  const main = resolve(import.meta.dirname, '../../dist/apps/gateway/src/main.js');
  const script = `ulimit -v 8000000; exec "${process.execPath}" "${main}"`;
  const { status, stderr } = spawnSync('bash', ['-c', script], {
    env: { PATH: process.env.PATH, PORT: '0', OBSERVATORY_DATA_DIR: join(folder, 'addresses') },
    encoding: 'utf8',
  });
  // From Node 24 on there is room for our memory, and then none for a thread: V8 says so itself, and aborts.
  const isAborted = stderr.includes('Failed to reserve virtual memory');
  expect(status).toBe(isAborted ? null : 1);
  if (!isAborted) expect(stderr).toContain('lift the limit of virtual memory (ulimit -v)');
});

describe('a place to listen at that cannot be had is named by its setting', () => {
  test('a port that another program has', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    expect(await refusal({ env: { PORT: String(port) } })).toContain(
      `PORT="${port}" cannot be used: another program listens at 127.0.0.1 there; end it, or choose another port.`,
    );
    other.close();
  });

  test('a first start that has none makes no credentials, which nobody would see', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    const dataDir = makeDataDir();
    const env = { OBSERVATORY_AGENT_KEY: '', OBSERVATORY_OPERATOR_TOKEN: '' };
    await refusal({ dataDir, env: { ...env, PORT: String(port) } });
    other.close();
    const gateway = await startGateway({ dataDir, env });
    await expect.poll(() => gateway.output()).toContain('/login#token=');
    await gateway.stop();
  });

  test.each(['192.0.2.9', 'no.such.host.invalid'])('the address %s, which is not ours', async (HOST) => {
    // Secrets that are made at the start: fixed ones of tests are too weak beyond loopback, which would come first.
    const env = { HOST, OBSERVATORY_AGENT_KEY: '', OBSERVATORY_OPERATOR_TOKEN: '' };
    expect(await refusal({ env })).toContain(
      `HOST="${HOST}" cannot be used: this machine has no such name or address; give 127.0.0.1`,
    );
  });
});

describe('a setting of the sidecar that the gateway would start is refused as its own are', () => {
  test.each([
    ['LOOP_EMBEDDER', 'word2vec', '="word2vec" cannot be used: give one of static, minilm, openai.'],
    ['LOOP_EMBEDDER', 'openai', '="openai" cannot be used: set LOOP_EMBEDDING_BASE_URL as well.'],
    ['LOOP_QUEUE_MAX', '0', '="0" cannot be used: give a whole number from 1 to 65536'],
    ['LOOP_EMBEDDING_REDIS_URL', 'http://:canary@here', ' cannot be used: give a URL such as redis://'],
    ['LOOP_EMBEDDING_API_KEY', 'canary of two', ' cannot be used: it may hold printable ASCII'],
  ])('%s=%s', async (name, value, words) => {
    const output = await refusal({ env: { LOOP_DETECTION_ENABLED: '1', [name]: value } });
    expect(output).toContain(`Observatory did not start: ${name}${words}`);
    expect(output).not.toContain('canary');
  });
});

test('a setting that may change while it runs does not stop the start, but the log says what is in force', async () => {
  const gateway = await startGateway({ env: { RETENTION_DAYS: 'forever' } });
  expect(gateway.output()).toContain(
    'RETENTION_DAYS is \\"forever\\", which cannot be used; retention_days is 30 instead.',
  );
  await gateway.stop();
});

test('a setting that is misspelt is told of once, and not what it was set to', async () => {
  const gateway = await startGateway({
    env: {
      OBSERVATORY_SECRETKEY: 'canary-0123456789',
      LOOP_DETECTION_ENABLED: '1',
      LOOP_EMBEDING_TTL: 'canary',
    },
  });
  expect(gateway.output()).toContain(
    'OBSERVATORY_SECRETKEY is no setting and changes nothing; is OBSERVATORY_SECRET_KEY meant?',
  );
  // The sidecar that it starts has the setting, too.
  await expect.poll(() => gateway.output(), { timeout: 20_000 }).toContain('embedding sidecar ready');
  expect(gateway.output().split('is LOOP_EMBEDDING_TTL meant?')).toHaveLength(2);
  expect(gateway.output()).not.toContain('canary');
  await gateway.stop();
});
