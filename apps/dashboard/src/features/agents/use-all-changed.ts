import { useOfTopic } from '../../realtime';

/** When somebody changed what all agents may do together, or let them run: see `isRefused`. 0: nobody did, or it is not known yet. */
export const useAllChangedMs = (): number =>
  useOfTopic('gateway:all_agents', (all) => all?.policy.updated_at_ms ?? 0);
