import { EventEmitter } from 'node:events';
import { status } from '@grpc/grpc-js';
import { beforeEach, describe, expect, it } from 'vitest';
import { EmbeddingFailure } from '#contracts/embedding';
import { type Deferred, deferred } from '#kernel';
import { turn } from '#testing';
import type { ReplyFrame } from './embedding-proto.js';
import { type AnswerFrame, type ExchangeCall, ExchangeStream } from './serve-exchange.js';

/** The peer's requests are what a test emits; its own end of the stream is what it has been sent. */
class ScriptedCall extends EventEmitter {
  readonly replies: ReplyFrame[] = [];
  readonly failures: { code: status }[] = [];
  writableLength = 0;
  hasHeaders = false;
  endCount = 0;

  constructor() {
    super();
    this.on('error', (failure) => this.failures.push(failure));
  }

  sendMetadata(): void {
    this.hasHeaders = true;
  }

  write(reply: ReplyFrame): void {
    this.replies.push(reply);
  }

  end(): void {
    this.endCount += 1;
  }

  ask(...ids: number[]): void {
    for (const id of ids) this.emit('data', { id });
  }

  codeOf(id: number): status | undefined {
    return this.replies.find((reply) => reply.id === id)?.failure?.code;
  }
}

const MANY = 4_096;

let call: ScriptedCall;
let stream: ExchangeStream;
let overCount: number;
/** Answers are held back until a test lets them go. */
let hold: Deferred;
const answer: AnswerFrame = async () => {
  await hold.promise;
  return { failure: null };
};

beforeEach(() => {
  call = new ScriptedCall();
  overCount = 0;
  hold = deferred();
  stream = new ExchangeStream(call as unknown as ExchangeCall, answer, () => {
    overCount += 1;
  });
});

it('tells its peer that it is open, and answers each request once', async () => {
  expect(call.hasHeaders).toBe(true);
  call.ask(1, 2);
  hold.resolve();
  await turn();
  expect(call.replies.map(({ id }) => id)).toEqual([1, 2]);
  expect(call.endCount).toBe(0);
});

it('refuses as busy what exceeds its bound, and takes again what there is room for', async () => {
  call.ask(...Array(MANY).fill(1));
  expect(call.replies).toEqual([]);
  call.ask(2);
  expect(call.codeOf(2)).toBe(status.RESOURCE_EXHAUSTED);
  hold.resolve();
  await turn();
  call.ask(3);
  await turn();
  expect(call.codeOf(3)).toBeUndefined();
  expect(call.replies).toHaveLength(MANY + 2);
});

it('cuts a peer that reads none of its replies, and not one that still may', async () => {
  hold.resolve();
  call.writableLength = MANY - 1;
  call.ask(1);
  await turn();
  expect([call.replies.length, overCount]).toEqual([1, 0]);
  call.writableLength = MANY;
  call.ask(2);
  await turn();
  expect(call.failures).toMatchObject([{ code: status.RESOURCE_EXHAUSTED }]);
  expect([call.replies.length, overCount]).toEqual([1, 1]);
});

it.each(['cancelled', 'error', 'close', 'finish'])(
  'is over with "%s", said once, and then sends nothing more',
  async (event) => {
    call.ask(1);
    call.emit(event);
    expect(overCount).toBe(1);
    for (const more of ['cancelled', 'error', 'close', 'finish']) call.emit(more);
    hold.resolve();
    await turn();
    const failureCount = call.failures.length;
    stream.drain();
    stream.cut();
    expect([overCount, call.replies, call.endCount]).toEqual([1, [], 0]);
    expect(call.failures).toHaveLength(failureCount);
  },
);

describe.each([
  ['the server', () => stream.drain()],
  ['its peer', () => call.emit('end')],
])('ended by %s', (_, end) => {
  it('answers what has begun, takes no more, and then ends', async () => {
    call.ask(1);
    end();
    call.ask(2);
    expect(call.codeOf(2)).toBe(status.UNAVAILABLE);
    expect(call.endCount).toBe(0);
    hold.resolve();
    await turn();
    expect(call.replies.map(({ id }) => id)).toEqual([2, 1]);
    expect(call.endCount).toBe(1);
  });

  it('ends at once where nothing has begun', () => {
    end();
    expect(call.endCount).toBe(1);
  });
});

it('cut, it says that the server is going', () => {
  stream.cut();
  expect(call.failures).toMatchObject([{ code: status.UNAVAILABLE }]);
});

it.each([
  [new EmbeddingFailure('expired', 'late'), status.DEADLINE_EXCEEDED, 'late'],
  [new TypeError('a secret'), status.INTERNAL, 'internal error'],
])('answers a request that fails with what may be told of it: %s', async (error, code, message) => {
  call.ask(1);
  hold.reject(error);
  await turn();
  expect(call.replies).toEqual([{ id: 1, failure: { code, message } }]);
});
