import { describe, expect, test } from 'vitest';
import { type AgentControl, agentScope, sessionKey } from '#contracts';
import type { CacheWish } from '../../llm-cache/cache-desk.js';
import { WaitingCalls } from '../calls/waiting-calls.js';
import type { ProxyCall, Verdict } from '../proxy-call.js';
import { cacheStep } from './cache.step.js';

const STOPPED: Verdict = { kind: 'refuse', decision: 'inactive', code: 'agent_inactive' };
const HELD: Verdict = { kind: 'refuse', decision: 'hold_expired', code: 'session_terminated' };
const NEVER = new Promise<void>(() => {});

/** A call that the desk lets wait until `landed`, behind a standing and a session that a test changes. */
function waitingCall(begin: { standing?: Verdict; state?: AgentControl['state'] } = {}) {
  const now = { state: 'active' as AgentControl['state'], ...begin };
  const waiting = new WaitingCalls();
  const listeners = new Set<() => void>();
  const call = {
    request: {},
    scope: agentScope('default', 'a'),
    sessionKey: sessionKey('default', 's'),
    injections: [],
    isGone: false,
    incoming: { headers: {} },
  } as unknown as ProxyCall;
  const run = (landed: Promise<void>): Promise<Verdict | undefined> => {
    const step = cacheStep(
      {
        desk: {
          answer: (waits: ProxyCall, { passAgain }: CacheWish) => passAgain(waits, landed),
          settle: () => {},
          noteHinted: () => {},
          noteDeleted: () => {},
          noteFailed: () => {},
        },
        agents: { restriction: () => null },
        control: {
          answerFor: () => ({ state: now.state, directives: [] }),
          onChanged(_key, changed) {
            listeners.add(changed);
            return () => void listeners.delete(changed);
          },
        },
        waiting,
        standing: () => now.standing,
      },
      { run: () => (now.state === 'active' ? undefined : HELD) },
    );
    return Promise.resolve(step.run?.(call));
  };
  return { now, run, waiting, listeners };
}

describe('a call that waits', () => {
  test('goes on once what it waits for is there, and is told of nothing after that', async () => {
    const { run, listeners } = waitingCall();
    expect(await run(Promise.resolve())).toBeUndefined();
    expect(listeners.size).toBe(0);
  });

  test('ends when its agent is stopped, though it be active again in the same turn', async () => {
    const { now, run, waiting } = waitingCall();
    const ended = run(NEVER);
    now.standing = STOPPED;
    waiting.lookAgain();
    delete now.standing;
    expect(await ended).toEqual(STOPPED);
  });

  test('is asked again at its end: hours that are over are told to nobody', async () => {
    const { now, run } = waitingCall();
    const landed = Promise.resolve().then(() => {
      now.standing = STOPPED;
    });
    expect(await run(landed)).toEqual(STOPPED);
  });

  test('passes the hold step when its session is paused', async () => {
    const { now, run, listeners } = waitingCall();
    const ended = run(NEVER);
    now.state = 'paused';
    for (const changed of listeners) changed();
    expect(await ended).toEqual(HELD);
  });

  test.each([
    ['its agent was stopped', { standing: STOPPED }, STOPPED],
    ['its session was paused', { state: 'paused' as const }, HELD],
  ])('does not begin to wait where %s before it came here', async (_, begin, verdict) => {
    expect(await waitingCall(begin).run(NEVER)).toEqual(verdict);
  });
});
