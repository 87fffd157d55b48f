/**
 * Step 7: the same question is not paid for twice. Looked up by the request as its caller sent it; a call that carries
 * words of ours to the model is neither answered from the cache nor kept in it.
 */
import { CACHE_POLICY_DEFAULT } from '#contracts';
import { type CacheDesk, type CacheWish, NOT_CACHED } from '../../llm-cache/cache-desk.js';
import { cacheControlOf } from '../../llm-cache/cache-request.js';
import type { AgentDirectory } from '../agent-directory.js';
import type { AgentStanding } from '../agent-standing.js';
import type { ProxyCall, Verdict } from '../proxy-call.js';
import type { Step } from '../step.js';

export interface CacheParts {
  /** Null: switched off. */
  desk: Pick<CacheDesk, 'answer' | 'settle' | 'noteHinted' | 'noteFailed'> | null;
  agents: Pick<AgentDirectory, 'restriction'>;
  standing: AgentStanding;
}

export const cacheStep = ({ desk, agents, standing }: CacheParts): Step => ({
  name: 'cache',
  onFailure: 'open',
  run(call: ProxyCall): Verdict | undefined | Promise<Verdict | undefined> {
    const control = cacheControlOf(call.incoming.headers);
    // Who asks for a cached answer or none is never sent on, whatever keeps the cache from answering.
    const without = control === 'only' ? NOT_CACHED : undefined;
    if (desk === null || call.request === null || control === 'bypass') return without;
    const policy = agents.restriction(call.scope)?.cache ?? CACHE_POLICY_DEFAULT;
    if (policy === 'off') return without;
    if (call.injections.length > 0) {
      desk.noteHinted(call);
      return without;
    }
    if (without === undefined) return desk.answer(call, { policy, control, standing });
    return answerOrNone(desk, call, { policy, control: 'only', standing });
  },
  settle(call: ProxyCall): void {
    if (call.cacheTicket !== null) desk?.settle(call, call.cacheTicket);
  },
});

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
