/** Where the tracker's findings go. Implementations never block and never throw. */
import type { EntropyAlertEvent, NodeState, SessionKey } from '#contracts';

/** What the tracker makes of a node; the other states are not its business. */
export type EntropyNodeState = Extract<NodeState, 'active' | 'blocked' | 'alert_entropy'>;

export interface EntropyPublisher {
  /** To `gateway:entropy_alerts`. Called with complete events only. @see FR-9.7 FR-9.10 */
  publishAlert(key: SessionKey, event: EntropyAlertEvent): void;
  /** To `gateway:topology`. @see FR-9.4 FR-9.5 FR-9.6 */
  publishNodeState(key: SessionKey, agentId: string, state: EntropyNodeState): void;
}
