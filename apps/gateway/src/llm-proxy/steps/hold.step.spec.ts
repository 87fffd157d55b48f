import { expect, onTestFinished, test, vi } from 'vitest';
import { type AgentControl, agentScope } from '#contracts';
import type { Dialect } from '#domain/llm-dialects';
import { buildSessionView } from '#testing';
import { HeldCalls } from '../calls/held-calls.js';
import { WaitingCalls } from '../calls/waiting-calls.js';
import { buildProxyCall } from '../proxy-call.fixture.js';
import type { ProxyCall, Verdict } from '../proxy-call.js';
import { type HoldParts, holdStep } from './hold.step.js';

const PAUSED: AgentControl = { state: 'paused', directives: [] };
const ACTIVE: AgentControl = { state: 'active', directives: [] };
const STOPPED: Verdict = { kind: 'refuse', decision: 'inactive', code: 'agent_inactive' };

/** Of agent `a` in session `s1`, streaming. */
const streamingCall = (outgoing: object = {}): ProxyCall =>
  buildProxyCall({
    agentId: 'a',
    body: { model: 'm', stream: true, messages: [{ role: 'user', content: 'Go on' }] },
    outgoing,
  });

/** A desk whose pause lasts until the waiting is broken off. */
const pausedDesk: HoldParts['desk'] = {
  answerForCall: () => PAUSED,
  view: () => buildSessionView().control,
  recall: () => null,
  noteProxied: () => {},
  holdCall: (_key, { interrupt }) => new Promise((resolve) => interrupt.listen(() => resolve(PAUSED))),
  takeInjections: async () => {},
};

const partsWith = (more: Partial<HoldParts>): HoldParts => ({
  desk: pausedDesk,
  held: new HeldCalls(),
  waiting: new WaitingCalls(),
  standing: () => undefined,
  holdMs: 10,
  streamHoldMs: 10,
  onChanged: () => {},
  onTakeFailed: () => {},
  ...more,
});

test('a stream that is held a second time, after it waited in the cache step, is begun once', async () => {
  const heads: number[] = [];
  const outgoing = {
    headersSent: false,
    writeHead(status: number) {
      if (this.headersSent) throw new Error('sent already');
      this.headersSent = true;
      heads.push(status);
    },
    write: () => true,
  };
  const call = streamingCall(outgoing);
  // Of each hold: still paused after the quiet moment, then resumed.
  const answers = [PAUSED, ACTIVE, PAUSED, ACTIVE];
  const holdCall = async () => answers.shift() as AgentControl;
  const step = holdStep(partsWith({ desk: { ...pausedDesk, holdCall } }));
  expect(await step.run?.(call)).toBeUndefined();
  const heldOnceMs = call.heldMs;
  expect(await step.run?.(call)).toBeUndefined();
  expect(answers).toEqual([]);
  expect(heads).toEqual([200]);
  expect(call.heldMs).toBeGreaterThan(heldOnceMs);
});

test('whoever was told before a hold that the client leaves is told after it, too', async () => {
  const call = streamingCall();
  let leftCount = 0;
  call.onGone = () => {
    leftCount += 1;
  };
  await holdStep(partsWith({ desk: { ...pausedDesk, holdCall: async () => ACTIVE } })).run?.(call);
  call.leave();
  expect(leftCount).toBe(1);
});

test('a call whose agent was stopped while it waits ends with that refusal, also where the agent is active again at once', async () => {
  let verdict: Verdict | undefined;
  const held = new HeldCalls();
  const countsShown: number[] = [];
  const parts = partsWith({ held, standing: () => verdict, onChanged: () => countsShown.push(held.count) });
  const { waiting } = parts;
  const outcome = holdStep(parts).run?.(streamingCall());
  expect(held.count).toBe(1);
  waiting.lookAgain(agentScope('default', 'a'));
  expect(held.count).toBe(1);
  verdict = STOPPED;
  waiting.lookAgain(agentScope('default', 'another'));
  waiting.lookAgain(agentScope('another', 'a'));
  waiting.lookAgain(agentScope('default', 'a'));
  verdict = undefined;
  waiting.lookAgain(agentScope('default', 'a'));
  expect(await outcome).toBe(STOPPED);
  expect(held.count).toBe(0);
  expect(countsShown).toEqual([1, 0]);
});

test('a client that leaves while its session is recalled is not held', async () => {
  const held = new HeldCalls();
  const call = streamingCall();
  const desk = { ...pausedDesk, recall: () => Promise.resolve() };
  const outcome = holdStep(partsWith({ desk, held, onChanged: () => expect.unreachable() })).run?.(call);
  call.leave();
  expect(await outcome).toBeUndefined();
  expect(held.count).toBe(0);
});

test('a call whose agent was stopped before it is held is not held', async () => {
  const held = new HeldCalls();
  const parts = partsWith({ held, standing: () => STOPPED, onChanged: () => expect.unreachable() });
  expect(await holdStep(parts).run?.(streamingCall())).toBe(STOPPED);
  expect(held.count).toBe(0);
});

test('a client that leaves as its agent is stopped gets nothing, and frees its place', async () => {
  let verdict: Verdict | undefined;
  const parts = partsWith({ standing: () => verdict });
  const call = streamingCall();
  const outcome = holdStep(parts).run?.(call);
  verdict = STOPPED;
  parts.waiting.lookAgain();
  call.leave();
  expect(await outcome).toBeUndefined();
  expect(parts.held.count).toBe(0);
});

test('words that a request has no place for are not taken by it, and wait for the next', async () => {
  const taken: string[] = [];
  const directives = [{ type: 'inject', directive_id: 'd1', prompt: 'Look elsewhere.' }];
  const step = holdStep(
    partsWith({
      desk: {
        ...pausedDesk,
        answerForCall: () => ({ state: 'active', directives }) as unknown as AgentControl,
        takeInjections: async (_key, ids) => void taken.push(...ids),
      },
    }),
  );
  const [odd, next] = [streamingCall(), streamingCall()];
  odd.dialect = { ...(odd.dialect as Dialect), injectSystem: (body) => body };
  for (const call of [odd, next]) {
    expect(await step.run?.(call)).toBeUndefined();
    call.isAnswered = true;
    step.settle?.(call);
  }
  expect([odd.injections, next.injections, taken]).toEqual([[], ['Look elsewhere.'], ['d1']]);
});

test('a call that goes on is looked at no more, and no comment gets between the words of its stream', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const written: unknown[] = [];
  const outgoing = { headersSent: false, writeHead: () => {}, write: (text: unknown) => written.push(text) };
  let lookCount = 0;
  const answers = [PAUSED, ACTIVE];
  const parts = partsWith({
    desk: { ...pausedDesk, holdCall: async () => answers.shift() as AgentControl },
    standing: () => {
      lookCount += 1;
      return undefined;
    },
  });
  expect(await holdStep(parts).run?.(streamingCall(outgoing))).toBeUndefined();
  expect(written).toHaveLength(1);
  const lookedBefore = lookCount;
  parts.waiting.lookAgain();
  vi.advanceTimersByTime(60_000);
  expect([written.length, lookCount]).toEqual([1, lookedBefore]);
});
