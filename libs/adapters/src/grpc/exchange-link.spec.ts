import { EventEmitter } from 'node:events';
import { type Client, Metadata } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SidecarFailure } from '#contracts/embedding';
import type { ReplyFrame, RequestFrame } from './embedding-proto.js';
import { ExchangeLink } from './exchange-link.js';

/** What a sidecar does with its stream is what a test says. */
class ScriptedStream extends EventEmitter {
  readonly written: RequestFrame[] = [];
  isCancelled = false;
  isBroken = false;

  write(frame: RequestFrame): void {
    if (this.isBroken) throw new Error('write after end');
    this.written.push(frame);
  }

  cancel(): void {
    this.isCancelled = true;
  }

  open(): void {
    const headers = new Metadata();
    headers.set('content-type', 'application/grpc+proto');
    this.emit('metadata', headers);
  }

  /** Replies to the question at this place. */
  reply(at: number): void {
    this.emit('data', { id: this.written[at]?.id } as ReplyFrame);
  }
}

let streams: ScriptedStream[];
let states: boolean[];
let link: ExchangeLink;
/** Of who is told of the state. */
let react: () => void;

const client = () =>
  ({
    makeBidiStreamRequest: () => {
      streams.push(new ScriptedStream());
      return streams.at(-1);
    },
  }) as unknown as Client;
const stream = () => streams.at(-1) as ScriptedStream;
const ask = (timeoutMs = 50): Promise<unknown> =>
  link.send({ timeout_ms: timeoutMs, traceparent: '' }, 1).then(
    () => 'answered',
    ({ reason }) => reason,
  );
const describeIn = (timeoutMs: number) =>
  link
    .heed(
      new Promise((_, reject) => {
        setTimeout(() => reject(new SidecarFailure('timeout', 'late')), timeoutMs);
      }),
    )
    .catch(({ reason }) => reason);
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers();
  streams = [];
  states = [];
  react = () => {};
  link = new ExchangeLink({
    client: client(),
    pendingMax: 10,
    pendingCharsMax: 100,
    onState: (isReady) => {
      states.push(isReady);
      react();
    },
  });
});
afterEach(() => {
  link.close();
  vi.useRealTimers();
});

it('rejects a call that cannot be written at once, and has its place free again', async () => {
  stream().open();
  stream().isBroken = true;
  expect(await ask(60_000)).toBe('error');
  expect(vi.getTimerCount()).toBe(0);
});

it.each([
  ['opens it again', () => link.reopen(client()), 2],
  ['closes it', () => link.close(), 1],
])(
  'whoever %s as he hears that it broke leaves one stream at most, and no timer',
  async (_, reacts, count) => {
    stream().open();
    react = reacts;
    stream().emit('end');
    await pass(3_600_000);
    expect(streams).toHaveLength(count);
    expect(vi.getTimerCount()).toBe(0);
  },
);

describe('silence', () => {
  beforeEach(() => stream().open());

  it('for a second from the first question, when another is late, ends the stream', async () => {
    const asked = [ask(60_000), ask(999)];
    await pass(500);
    asked.push(ask(500));
    await pass(499);
    expect(states).toEqual([true]);
    await pass(1);
    expect(await Promise.all(asked)).toEqual(['unavailable', 'timeout', 'timeout']);
    expect(states).toEqual([true, false]);
    expect(stream().isCancelled).toBe(true);
  });

  it.each([
    ['of the stream', () => stream().reply(0)],
    ['beside the stream', () => link.heed(Promise.resolve())],
    ['beside the stream that says no', () => link.heed(Promise.reject(new Error('no'))).catch(() => {})],
  ])('begins anew with an answer %s, for those that still wait', async (_, answer) => {
    const asked = [ask(60_000), ask(1_000), ask(1_900)];
    await pass(900);
    await answer();
    await pass(999);
    expect(states).toEqual([true]);
    await pass(1);
    expect((await Promise.all(asked)).slice(1)).toEqual(['timeout', 'timeout']);
    expect(states).toEqual([true, false]);
  });

  it('is none while nothing is asked', async () => {
    const answered = ask();
    stream().reply(0);
    expect(await answered).toBe('answered');
    await pass(3_600_000);
    const late = ask();
    await pass(50);
    expect(await late).toBe('timeout');
    expect(states).toEqual([true]);
  });

  it('does not outlive its stream', async () => {
    ask();
    stream().emit('status', {});
    await pass(1_000);
    stream().open();
    const late = ask();
    await pass(50);
    expect(await late).toBe('timeout');
    expect(states).toEqual([true, false, true]);
  });

  it('of questions beside the stream ends it too', async () => {
    const asked = [describeIn(500), describeIn(1_000)];
    await pass(1_000);
    expect(await Promise.all(asked)).toEqual(['timeout', 'timeout']);
    expect(states).toEqual([true, false]);
  });
});

it('takes no question beside a stream that is not ready for silence on it', async () => {
  const asked = describeIn(1_000);
  await pass(1_000);
  expect(await asked).toBe('timeout');
  stream().open();
  const late = ask();
  await pass(50);
  expect(await late).toBe('timeout');
  expect(streams).toHaveLength(1);
  expect(states).toEqual([true]);
});

describe('a stream that broke', () => {
  const breakIt = () => stream().emit('status', { code: 14 });
  /** Milliseconds until it is opened again. */
  const pause = async (): Promise<number> => {
    const { length } = streams;
    let ms = 0;
    for (; streams.length === length && ms < 10_000; ms += 1) await pass(1);
    return ms;
  };

  it('rejects what is on its way, and is opened again with growing pauses', async () => {
    stream().open();
    const asked = ask(60_000);
    breakIt();
    expect(await asked).toBe('unavailable');
    expect(states).toEqual([true, false]);
    const pauses = [await pause()];
    for (let count = 0; count < 5; count += 1) {
      breakIt();
      pauses.push(await pause());
    }
    expect(pauses).toEqual([20, 40, 80, 160, 250, 250]);
  });

  it('begins with the shortest pause again when it had lasted for a second, and not before', async () => {
    for (const expected of [20, 40]) {
      stream().open();
      await pass(999);
      breakIt();
      expect(await pause()).toBe(expected);
    }
    stream().open();
    await pass(1_000);
    breakIt();
    expect(await pause()).toBe(20);
  });

  it('and was never ready does not begin with the shortest pause, however long it took', async () => {
    breakIt();
    expect(await pause()).toBe(20);
    await pass(60_000);
    breakIt();
    expect(await pause()).toBe(40);
  });

  it.each(['error', 'end', 'status'])('says so by "%s" alone, or together with others', async (event) => {
    stream().open();
    const broken = stream();
    broken.emit(event, {});
    expect(states).toEqual([true, false]);
    const sayMore = () => ['error', 'end', 'status'].map((name) => broken.emit(name, {}));
    sayMore();
    await pause();
    sayMore();
    await pass(1_000);
    expect(streams).toHaveLength(2);
  });

  it('has nothing more to say once another is open', async () => {
    const first = stream();
    first.emit('status', {});
    await pause();
    first.open();
    expect(states).toEqual([]);
    stream().open();
    const asked = ask();
    first.emit('data', { id: stream().written[0]?.id });
    await pass(50);
    expect(await asked).toBe('timeout');
  });
});

describe('told to open now', () => {
  it('it does so once, and not again after the pause of the one before', async () => {
    stream().emit('status', {});
    link.reopen(client());
    expect(streams).toHaveLength(2);
    stream().open();
    await pass(60_000);
    expect(streams).toHaveLength(2);
    expect(states).toEqual([true]);
  });

  it('it lets go of one that is waiting', () => {
    const waiting = stream();
    link.reopen(client());
    expect(waiting.isCancelled).toBe(true);
    expect(streams).toHaveLength(2);
  });

  it('it does nothing while it is ready, or closed', async () => {
    stream().open();
    link.reopen(client());
    link.close();
    link.reopen(client());
    await pass(60_000);
    expect(streams).toHaveLength(1);
  });
});

it('closed, it rejects what is on its way, says so, and stays away', async () => {
  stream().open();
  const asked = ask(60_000);
  link.close();
  expect(await asked).toBe('unavailable');
  expect(stream().isCancelled).toBe(true);
  await pass(60_000);
  expect(states).toEqual([true, false]);
  expect(streams).toHaveLength(1);
  expect(await ask()).toBe('unavailable');
});
