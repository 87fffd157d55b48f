import { NO_AGENTS, useTopic } from '../../realtime';
import { NO_POLICIES, type Policies } from './rest';

let latest = NO_POLICIES;

/** What the agents may do, each and together. The same object, for all places, as long as nothing changed that could change a `Rest`. */
export function usePolicies(): Policies {
  const agents = useTopic('gateway:agents').data ?? NO_AGENTS;
  const all = useTopic('gateway:all_agents').data?.policy ?? null;
  if (latest.agents !== agents || latest.all?.updated_at_ms !== all?.updated_at_ms) latest = { agents, all };
  return latest;
}
