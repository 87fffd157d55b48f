import { EventEmitter } from 'node:events';
import { expect, test, vi } from 'vitest';
import { OPENED_ID, type ThreadAnswer, type ThreadSettings } from './protocol.js';
import { ThreadLink } from './thread-link.js';

/** What a thread says before it ends, in one turn: as Node tells it of one that ended before anybody looked. */
const said = vi.hoisted(() => ({ answers: [] as ThreadAnswer[], isRefused: false }));

vi.mock('node:worker_threads', () => ({
  Worker: class extends EventEmitter {
    constructor() {
      super();
      if (said.isRefused) throw Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
      setImmediate(() => {
        for (const answer of said.answers) this.emit('message', answer);
        this.emit('exit', 0);
      });
    }

    async terminate() {}
  },
}));

const SETTINGS: ThreadSettings = {
  role: 'checkpointer',
  path: '/nowhere',
  durability: 'process',
  freeBytesMin: 0,
  pageCountMax: null,
};

async function open() {
  const onDeath = vi.fn();
  const opened = ThreadLink.open(new URL('file:///thread.js'), SETTINGS, { onDeath, onEvent: () => {} });
  const error = await opened.then(
    () => null,
    (reason: Error) => reason.message,
  );
  return { error, deaths: onDeath.mock.calls.flat() };
}

test('of a thread that cannot open, and ends, whoever opens it is told, and nobody else', async () => {
  said.answers = [{ id: OPENED_ID, ok: false, failure: { reason: 'failed', detail: 'the disk is full' } }];
  expect(await open()).toEqual({ error: 'the disk is full', deaths: [] });
  said.answers = [];
  expect(await open()).toEqual({ error: "the store's checkpointer thread ended (0)", deaths: [] });
});

test('of one that ends once it is open, everybody is told', async () => {
  said.answers = [{ id: OPENED_ID, ok: true, result: null, durationMs: 0 }];
  expect(await open()).toEqual({ error: null, deaths: ["the store's checkpointer thread ended (0)"] });
});

test('one that the system refuses is told of as that, with the limit to raise', async () => {
  said.isRefused = true;
  expect((await open()).error).toMatch(
    /^the system gives the store no checkpointer thread \(EAGAIN\): raise/,
  );
});
