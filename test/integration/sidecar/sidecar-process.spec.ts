/** The sidecar as a supervised child: started again when it dies, and never left behind. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Logger, pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { SidecarClient } from '#adapters/grpc';
import { type Clock, systemClock } from '#kernel';
import {
  SidecarProcess,
  type SidecarState,
} from '../../../apps/gateway/src/semantic-loop/sidecar-process.js';
import { buildModule } from '../build-module.js';
import { endWithFile } from '../end-with-file.js';
import { makePlace, patient, query, type SidecarPlace } from './sidecar-place.js';
import { SIDECAR_MAIN } from './start-sidecar.js';

const SUPERVISOR = 'apps/gateway/src/semantic-loop/sidecar-process.ts';
const environment = { PATH: process.env.PATH ?? '' };
const hurried = { timeoutMs: 50, traceParent: null };

let place: SidecarPlace;
let lines: any[];
let logger: Logger;
let states: SidecarState[];
const opened: (() => Promise<unknown>)[] = [];

beforeEach(() => {
  place = makePlace();
  lines = [];
  states = [];
  logger = pino(
    { level: 'debug', base: null },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
  place.remove();
});

interface Over {
  dataDir?: string;
  clock?: Clock;
  environment?: Record<string, string>;
  mainFile?: string;
  hungMs?: number;
}

function supervise(over: Over = {}): SidecarProcess {
  const supervised = new SidecarProcess({
    dataDir: over.dataDir ?? place.folder,
    environment: { ...environment, ...over.environment },
    logger,
    clock: over.clock ?? systemClock,
    onState: (state) => states.push(state),
    mainFile: over.mainFile ?? SIDECAR_MAIN,
    ...(over.hungMs === undefined ? {} : { hungMs: over.hungMs }),
  });
  opened.push(() => supervised.stop());
  supervised.start();
  return supervised;
}

function connect(supervised: SidecarProcess): SidecarClient {
  const client = new SidecarClient({ socketPath: supervised.socketPath });
  opened.push(() => client.close());
  return client;
}

/** @returns the main file of one that ends, with its parent or after so long */
function servingFor(ms: number): string {
  const mainFile = join(place.folder, 'short-lived.mjs');
  writeFileSync(
    mainFile,
    `console.log(JSON.stringify({ level: 'info', event: 'ready', msg: 'ready' }));
     process.stdin.resume().on('end', () => process.exit(1));
     setTimeout(() => process.exit(1), ${ms});`,
  );
  return mainFile;
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('a supervised sidecar', () => {
  it('serves, and its log lines are merged with their level', async () => {
    const supervised = supervise();
    const client = connect(supervised);
    const { pid } = supervised.state;
    supervised.start();
    expect(supervised.state).toMatchObject({ state: 'starting', restart_count: 0, pid });
    await expect.poll(() => supervised.state.state, { timeout: 20_000 }).toBe('serving');
    await expect.poll(() => client.isReady).toBe(true);
    expect((await client.checkLoop(query('1', 'hello there'), patient)).fitness).toBe('fit');
    expect(lines).toContainEqual(
      expect.objectContaining({ event: 'ready', source: 'embedding-sidecar', level: 30 }),
    );
  });

  it('is seen to serve whatever level its log has', async () => {
    const supervised = supervise({ environment: { LOG_LEVEL: 'error' } });
    await expect.poll(() => supervised.state.state, { timeout: 20_000 }).toBe('serving');
  });

  it('killed under load is back, with every call answered or rejected in between', async () => {
    const supervised = supervise();
    const client = connect(supervised);
    await expect.poll(() => client.isReady, { timeout: 20_000 }).toBe(true);
    const outcomes: string[] = [];
    let isOver = false;
    const load = Promise.all(
      Array.from({ length: 8 }, async (_, lane) => {
        for (let count = 0; !isOver; count += 1) {
          const text = `question ${count} of lane ${lane}`;
          const asked = client.checkLoop(query(`${lane}-${count}`, text), {
            timeoutMs: 50,
            traceParent: null,
          });
          outcomes.push(
            await asked.then(
              () => 'answered',
              (error) => error.reason,
            ),
          );
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      }),
    );
    const pid = supervised.state.pid as number;
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => client.isReady, { interval: 5 }).toBe(false);
    await expect.poll(() => client.isReady, { timeout: 15_000, interval: 5 }).toBe(true);
    expect((await client.checkLoop(query('after', 'hello there'), patient)).fitness).toBe('fit');
    isOver = true;
    await load;
    expect(outcomes).toContain('unavailable');
    expect(outcomes.filter((one) => !['answered', 'unavailable', 'timeout', 'busy'].includes(one))).toEqual(
      [],
    );
    expect(supervised.state).toMatchObject({ state: 'serving', restart_count: 1, detail: null });
    expect(states.map(({ state }) => state)).toEqual(
      expect.arrayContaining(['starting', 'serving', 'down', 'starting', 'serving']),
    );
  });

  it('that cannot start says why, in its own words, and is tried again with growing pauses', async () => {
    const supervised = supervise({ environment: { LOOP_HISTORY_SIZE: 'many' } });
    await expect.poll(() => supervised.state.restart_count, { timeout: 25_000 }).toBeGreaterThanOrEqual(2);
    await expect.poll(() => supervised.state.state, { timeout: 20_000 }).toBe('down');
    expect(supervised.state.detail).toMatch(/^LOOP_HISTORY_SIZE="many" cannot be used/);
    const pauses = lines
      .filter(({ event }) => event === 'sidecar_ended')
      .map(({ restart_in_ms }) => restart_in_ms);
    expect(pauses.slice(0, 3)).toEqual([50, 100, 200]);
  });

  it.each(['not_started', 'model_died'])(
    'says why it ended (%s), and not the reason of the one before it',
    async (event) => {
      const mainFile = join(place.folder, 'once-said.mjs');
      writeFileSync(
        mainFile,
        `import { existsSync, writeFileSync } from 'node:fs';
       const mark = new URL('said', import.meta.url);
       const reason = { level: 'fatal', event: '${event}', reason: 'no model', msg: 'over' };
       if (!existsSync(mark)) console.log(JSON.stringify(reason));
       writeFileSync(mark, '');
       process.exitCode = 1;`,
      );
      supervise({ mainFile });
      const details = () => states.flatMap(({ state, detail }) => (state === 'down' ? [detail] : []));
      await expect
        .poll(() => new Set(details()), { timeout: 20_000 })
        .toEqual(new Set(['no model', 'ended with status 1']));
    },
  );

  it.each([
    ['debug', 'debug'],
    ['error', 'info'],
  ])('writes its log at the level %s as %s, so that its line of being ready comes', async (level, given) => {
    const mainFile = join(place.folder, 'level.mjs');
    writeFileSync(
      mainFile,
      `console.log(JSON.stringify({ level: 'info', msg: 'at ' + process.env.LOG_LEVEL }));`,
    );
    supervise({ mainFile, environment: { LOG_LEVEL: level } });
    await expect
      .poll(() => lines, { timeout: 20_000 })
      .toContainEqual(expect.objectContaining({ msg: `at ${given}` }));
  });

  it('that served for long before it died is started again after the shortest pause', async () => {
    let nowMs = 0;
    const supervised = supervise({
      mainFile: servingFor(0),
      clock: { ...systemClock, nowMs: () => (nowMs += 10_000) },
    });
    await expect.poll(() => supervised.state.restart_count, { timeout: 25_000 }).toBeGreaterThanOrEqual(3);
    const pauses = lines.filter(({ event }) => event === 'sidecar_ended').map((line) => line.restart_in_ms);
    expect(pauses.slice(0, 3)).toEqual([50, 50, 50]);
    const [first] = states.filter(({ state }) => state === 'down');
    const whileDown = states.filter(({ state, restart_count }) => state === 'down' && restart_count <= 1);
    expect(whileDown.slice(0, 2).map(({ since_ms }) => since_ms)).toEqual(Array(2).fill(first?.since_ms));
  });

  it('that serves and was never reached hangs, and is replaced', async () => {
    const supervised = supervise({ mainFile: servingFor(60_000), hungMs: 100 });
    supervised.noteReached(false);
    const detail = 'it did not answer for 0.1 s';
    await expect
      .poll(() => lines, { timeout: 20_000 })
      .toContainEqual(expect.objectContaining({ event: 'sidecar_ended', detail }));
  });

  it('is not taken for hung while it is reached, nor before anybody has tried', async () => {
    const supervised = supervise({ mainFile: servingFor(60_000), hungMs: 100 });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await expect.poll(() => supervised.state.state, { timeout: 20_000 }).toBe('serving');
    const timerCounts = [vi.getTimerCount()];
    for (const isReached of [true, false, true]) {
      supervised.noteReached(isReached);
      timerCounts.push(vi.getTimerCount());
    }
    expect(timerCounts).toEqual([0, 0, 1, 0]);
  });

  it('that dies again and again, but serves in between, is never waited for long', async () => {
    const mainFile = servingFor(0);
    const supervised = supervise({ mainFile });
    await expect.poll(() => supervised.state.restart_count, { timeout: 25_000 }).toBeGreaterThanOrEqual(6);
    const pauses = lines
      .filter(({ event }) => event === 'sidecar_ended')
      .map(({ restart_in_ms }) => restart_in_ms);
    expect(pauses.slice(0, 6)).toEqual([50, 100, 200, 200, 200, 200]);
  });

  it.each([
    ['calls', (client: SidecarClient) => client.checkLoop(query('1', 'hello'), hurried)],
    ['nobody but the System page', (client: SidecarClient) => client.describe(hurried)],
  ])('that hangs under %s is replaced; one that is away for a moment is not', async (_, ask) => {
    const supervised = supervise({ hungMs: 500 });
    const client = new SidecarClient({
      socketPath: supervised.socketPath,
      onState: (isReady) => supervised.noteReached(isReady),
    });
    opened.push(() => client.close());
    await expect.poll(() => client.isReady, { timeout: 20_000 }).toBe(true);
    supervised.noteReached(false);
    supervised.noteReached(true);
    const pid = supervised.state.pid as number;
    process.kill(pid, 'SIGSTOP');
    const keepAsking = async (): Promise<boolean> => {
      await ask(client).catch(() => {});
      return isAlive(pid);
    };
    await expect.poll(keepAsking, { timeout: 10_000 }).toBe(false);
    await expect.poll(() => client.isReady, { timeout: 20_000 }).toBe(true);
    expect(supervised.state.restart_count).toBe(1);
    expect(lines.find(({ event }) => event === 'sidecar_ended')?.detail).toBe('it did not answer for 0.5 s');
  });

  it('that is not there at all is a state, and no crash', async () => {
    const supervised = supervise({ mainFile: join(place.folder, 'missing.js') });
    await expect.poll(() => supervised.state.detail, { timeout: 20_000 }).toMatch(/ended with status 1/);
  });

  it('that cannot even be spawned is a state, tried again with growing pauses, and no crash', async () => {
    // No program may be handed one setting of this length.
    const supervised = supervise({ environment: { LOOP_TOO_LONG: 'x'.repeat(200_000) } });
    expect(supervised.state).toMatchObject({ state: 'down', detail: 'ended with E2BIG', pid: null });
    await expect.poll(() => supervised.state.restart_count).toBeGreaterThanOrEqual(2);
  });

  it('is started once there are file descriptors again, and the parent that has none lives', async () => {
    const main = join(place.folder, 'parent.mjs');
    const supervisor = pathToFileURL(await buildModule(SUPERVISOR)).href;
    writeFileSync(
      main,
      `import { closeSync, openSync } from 'node:fs';
       const { SidecarProcess } = await import(${JSON.stringify(supervisor)});
       const quiet = () => {};
       const logger = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet };
       const held = [];
       const supervised = new SidecarProcess({
         dataDir: ${JSON.stringify(place.folder)}, environment: { PATH: process.env.PATH }, logger,
         clock: { nowMs: Date.now },
         onState: ({ state, detail, restart_count }) => {
           if (state === 'down' && restart_count > 0) for (const fd of held.splice(0)) closeSync(fd);
           if (state === 'down') console.log(detail);
           if (state === 'serving') { console.log('serving'); void supervised.stop().then(() => process.exit(0)); }
         },
       });
       setInterval(quiet, 1_000);
       console.log('up');
       try { for (;;) held.push(openSync('/dev/null')); } catch {}
       supervised.start();`,
    );
    const parent = spawn('sh', ['-c', `ulimit -n 1024; exec "$0" "$1"`, process.execPath, main], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    endWithFile(() => parent.kill('SIGKILL'));
    let output = '';
    parent.stdout.on('data', (chunk) => (output += chunk));
    const status = await new Promise((done) => parent.once('close', done));
    expect(output.split('\n').filter(Boolean)).toEqual([
      'up',
      'ended with EMFILE',
      'ended with EMFILE',
      'serving',
      'stopped',
    ]);
    expect(status).toBe(0);
  });

  it('stops when told, and then stays away', async () => {
    const supervised = supervise();
    await expect.poll(() => supervised.state.state, { timeout: 20_000 }).toBe('serving');
    const pid = supervised.state.pid as number;
    await supervised.stop();
    expect(isAlive(pid)).toBe(false);
    expect(supervised.state).toMatchObject({ state: 'down', detail: 'stopped', restart_count: 0 });
    expect(existsSync(supervised.socketPath)).toBe(false);
    supervised.start();
    expect(supervised.state.state).toBe('down');
  });

  it('that does not stop when it is told to is killed', async () => {
    const mainFile = join(place.folder, 'stubborn.mjs');
    writeFileSync(
      mainFile,
      `process.on('SIGTERM', () => {});
       console.log(JSON.stringify({ level: 'info', event: 'ready', msg: 'ready' }));
       process.stdin.resume().on('end', () => process.exit(0));`,
    );
    const supervised = supervise({ mainFile });
    await expect.poll(() => supervised.state.state, { timeout: 20_000 }).toBe('serving');
    const pid = supervised.state.pid as number;
    onTestFinished(() => void (isAlive(pid) && process.kill(pid, 'SIGKILL')));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const stopped = supervised.stop();
    vi.advanceTimersByTime(5_000);
    await stopped;
    expect(isAlive(pid)).toBe(false);
    expect(supervised.state).toMatchObject({ state: 'down', detail: 'stopped' });
  });

  it('that is waiting to be started again is not, once it is told to stop', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const supervised = supervise({ environment: { LOOP_TOO_LONG: 'x'.repeat(200_000) } });
    expect(vi.getTimerCount()).toBe(1);
    await supervised.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that finds no place for its socket says so, and is not started', () => {
    const folder = join(place.folder, 'd'.repeat(120));
    mkdirSync(folder);
    vi.stubEnv('TMPDIR', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const supervised = supervise({ dataDir: folder });
    const detail = expect.stringContaining('TMPDIR');
    expect(supervised.state).toMatchObject({ state: 'down', detail, pid: null });
    expect(lines).toEqual([expect.objectContaining({ event: 'sidecar_not_started', detail })]);
  });

  it('prints nothing of what is no log line', async () => {
    const mainFile = join(place.folder, 'talkative.mjs');
    writeFileSync(
      mainFile,
      `console.log('the prompt was: marmalade');
       console.error('the prompt was: marmalade');
       console.log(JSON.stringify({ level: 'info', event: 'ready', msg: 'ready' }));
       process.stdin.resume().on('end', () => process.exit(0));
       process.on('SIGTERM', () => process.exit(0));`,
    );
    const supervised = supervise({ mainFile });
    await expect.poll(() => supervised.state.state, { timeout: 20_000 }).toBe('serving');
    expect(JSON.stringify(lines)).not.toContain('marmalade');
  });

  it('with a data folder too deep for a socket serves from elsewhere, and leaves nothing there', async () => {
    const deep = join(place.folder, 'd'.repeat(60), 'e'.repeat(60));
    mkdirSync(deep, { recursive: true });
    const supervised = new SidecarProcess({
      dataDir: deep,
      environment,
      logger,
      clock: systemClock,
      mainFile: SIDECAR_MAIN,
    });
    opened.push(() => supervised.stop());
    supervised.start();
    await expect.poll(() => supervised.state.state, { timeout: 20_000 }).toBe('serving');
    const folder = resolve(supervised.socketPath, '..');
    expect(folder).not.toBe(deep);
    await supervised.stop();
    expect(existsSync(folder)).toBe(false);
    rmSync(deep, { recursive: true });
  });

  it('does not outlive a parent that is killed', async () => {
    const main = join(place.folder, 'parent.mjs');
    const supervisor = pathToFileURL(await buildModule(SUPERVISOR)).href;
    writeFileSync(
      main,
      `const { SidecarProcess } = await import(${JSON.stringify(supervisor)});
       const quiet = () => {};
       const logger = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet };
       const supervised = new SidecarProcess({
         dataDir: ${JSON.stringify(place.folder)}, environment: { PATH: process.env.PATH }, logger,
         clock: { nowMs: Date.now },
         onState: ({ state, pid }) => state === 'serving' && console.log(pid),
       });
       supervised.start();`,
    );
    const parent = spawn(process.execPath, [main], { stdio: ['ignore', 'pipe', 'inherit'] });
    endWithFile(() => parent.kill('SIGKILL'));
    const pid = await new Promise<number>((done, fail) => {
      parent.stdout.once('data', (chunk) => done(Number(chunk)));
      parent.once('exit', () => fail(new Error('the parent ended')));
    });
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await expect.poll(() => isAlive(pid), { timeout: 5_000 }).toBe(false);
    expect(existsSync(join(place.folder, 'embedding.sock'))).toBe(false);
  });
});
