/** When an agent last called through the proxy: of this gateway's run, which is all that it knows, so never "never". */
import type { AgentView } from '#contracts';
import { NONE_SINCE_START, NoneSinceStart } from '../../app/begun-anew';
import { RelativeTime } from '../../ui';

interface LastCallProps {
  agent: Pick<AgentView, 'last_call_ms'>;
  /** In a column: without "ago", and a dash for none. */
  short?: boolean;
}

export function LastCall({ agent: { last_call_ms }, short = false }: LastCallProps) {
  if (last_call_ms !== null) return <RelativeTime atMs={last_call_ms} short={short} />;
  return short ? <NoneSinceStart of="Last call" /> : NONE_SINCE_START;
}
