/**
 * Step 7: the same question is not paid for twice. Looked up by the request as its caller sent it; a call that carries
 * words of ours to the model is neither answered from the cache nor kept in it.
 */
import { CACHE_POLICY_DEFAULT } from '#contracts';
import type { CacheDesk } from '../../llm-cache/cache-desk.js';
import type { AgentDirectory } from '../agent-directory.js';
import type { ProxyCall, Verdict } from '../proxy-call.js';
import type { Step } from '../step.js';

export interface CacheParts {
  /** Null: switched off. */
  desk: Pick<CacheDesk, 'answer' | 'settle' | 'noteHinted'> | null;
  agents: Pick<AgentDirectory, 'restriction'>;
}

export const cacheStep = ({ desk, agents }: CacheParts): Step => ({
  name: 'cache',
  onFailure: 'open',
  run(call: ProxyCall): Verdict | undefined | Promise<Verdict | undefined> {
    if (desk === null || call.request === null) return undefined;
    const policy = agents.restriction(call.scope)?.cache ?? CACHE_POLICY_DEFAULT;
    if (policy === 'off') return undefined;
    if (call.injections.length > 0) {
      desk.noteHinted(call);
      return undefined;
    }
    return desk.answer(call, policy);
  },
  settle(call: ProxyCall): void {
    if (call.cacheTicket !== null) desk?.settle(call, call.cacheTicket);
  },
});
