/**
 * Step 7: the same question is not paid for twice. Looked up by the request as its caller sent it; a call that carries
 * words of ours to the model is neither answered from the cache nor kept in it. A call that waited passes the gates in front
 * of this step once more before it is given an answer; where it waits for an equal one at once when its agent is stopped, its
 * key revoked, or its session paused or terminated meanwhile.
 */
import { CACHE_POLICY_DEFAULT, HEADERS } from '#contracts';
import { deletedAnswerId } from '#domain/llm-dialects';
import { deferred } from '#kernel';
import type { ControlDesk } from '../../hitl/control-desk.js';
import { type CacheDesk, type CacheWish, NOT_CACHED } from '../../llm-cache/cache-desk.js';
import { cacheControlOf } from '../../llm-cache/cache-request.js';
import type { AgentDirectory } from '../agents/agent-directory.js';
import type { AgentStanding } from '../agents/agent-standing.js';
import type { WaitingCalls } from '../calls/waiting-calls.js';
import type { ProxyCall, Verdict } from '../proxy-call.js';
import type { Step } from '../step.js';

export interface CacheParts {
  /** Null: switched off. */
  desk: Pick<CacheDesk, 'answer' | 'settle' | 'noteHinted' | 'noteDeleted' | 'noteFailed'> | null;
  agents: Pick<AgentDirectory, 'restriction'>;
  control: Pick<ControlDesk, 'answerFor' | 'onChanged'>;
  waiting: WaitingCalls;
  standing: AgentStanding;
}

/** @param gates in front of this step, passed again by a call that waits here */
export const cacheStep = (parts: CacheParts, gates: Pick<Step, 'run'>): Step => {
  const passAgain: CacheWish['passAgain'] = (call, landed) => passGates(parts, gates, call, landed);
  return caching(parts, passAgain);
};

const caching = ({ desk, agents }: CacheParts, passAgain: CacheWish['passAgain']): Step => ({
  name: 'cache',
  onFailure: 'open',
  readsAll: true,
  run(call: ProxyCall): Verdict | undefined | Promise<Verdict | undefined> {
    const control = cacheControlOf(call.incoming.headers);
    // Its answer says of the cache what it came to, a refusal as well; a hit says so in its place.
    if (control === 'only') call.answerHeaders = { ...call.answerHeaders, [HEADERS.cache]: 'miss' };
    // Who asks for a cached answer or none is never sent on, whatever keeps the cache from answering.
    const without = control === 'only' ? NOT_CACHED : undefined;
    if (desk === null || call.request === null || control === 'bypass') return without;
    const policy = agents.restriction(call.scope)?.cache ?? CACHE_POLICY_DEFAULT;
    if (policy === 'off') return without;
    if (call.injections.length > 0) {
      desk.noteHinted(call);
      return without;
    }
    if (without === undefined) return desk.answer(call, { policy, control, passAgain });
    return answerOrNone(desk, call, { policy, control: 'only', passAgain });
  },
  settle(call: ProxyCall): void {
    if (call.cacheTicket !== null) desk?.settle(call, call.cacheTicket);
    if (call.dialect !== null || !call.isAnswered) return;
    const deleted = deletedAnswerId(call.incoming.method as string, call.path);
    if (deleted !== null) desk?.noteDeleted(call.tenantId, deleted);
  },
});

/** Fails closed, as the hold step does: who cannot be asked about a pause has not allowed the call. */
async function passGates(
  { desk, control, waiting, standing }: CacheParts,
  gates: Pick<Step, 'run'>,
  call: ProxyCall,
  landed: Promise<void>,
): Promise<Verdict | undefined> {
  const { sessionKey } = call;
  const shut = deferred();
  const lookAtSession = () => {
    if (sessionKey !== null && control.answerFor(sessionKey).state !== 'active') shut.resolve();
  };
  const wait = waiting.enter(call, standing, () => shut.resolve());
  const detach = sessionKey === null ? () => {} : control.onChanged(sessionKey, lookAtSession);
  try {
    // A change that came before the call waits was told to nobody.
    wait.look();
    lookAtSession();
    await Promise.race([landed, shut.promise]);
    return call.isGone ? undefined : (wait.look() ?? (await gates.run?.(call)));
  } catch (error) {
    desk?.noteFailed(error);
    return { kind: 'refuse', decision: 'refused', code: 'internal_error' };
  } finally {
    wait.end();
    detach();
  }
}

/** A cache that fails opens the way to the upstream for everybody but those who asked it to stay shut. */
async function answerOrNone(
  desk: NonNullable<CacheParts['desk']>,
  call: ProxyCall,
  wish: CacheWish,
): Promise<Verdict> {
  try {
    return (await desk.answer(call, wish)) ?? NOT_CACHED;
  } catch (error) {
    desk.noteFailed(error);
    return NOT_CACHED;
  }
}
