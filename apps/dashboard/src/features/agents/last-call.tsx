/** When an agent last called through the proxy: of this gateway's run, which is all that it knows, so never "never". */
import type { AgentView } from '#contracts';
import { NONE_SINCE_START, NoneYet } from '../../app/begun-anew';
import { RelativeTime } from '../../ui';
import { isFirstUnderWay } from './select-agents';

interface LastCallProps {
  agent: Pick<AgentView, 'last_call_ms' | 'running_call_count' | 'held_call_count'>;
  /** In a column: without "ago", and a dash for none. */
  short?: boolean;
}

export function LastCall({ agent, short = false }: LastCallProps) {
  if (agent.last_call_ms !== null) return <RelativeTime atMs={agent.last_call_ms} short={short} />;
  const text = isFirstUnderWay(agent) ? 'none has ended yet' : NONE_SINCE_START;
  return short ? <NoneYet of="Last call" text={text} /> : text;
}
