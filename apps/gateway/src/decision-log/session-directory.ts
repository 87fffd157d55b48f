/** What other areas may know of sessions; implemented by the session registry. */
import type { ControlView, SessionKey, SessionView, StoredStep } from '#contracts';

export interface SessionDirectory {
  /** In memory, else from the store; null if this tenant never had it. */
  find(key: SessionKey): Promise<SessionView | null>;
  /**
   * Called after a change of control: the row is republished. `terminated` ends the session.
   *
   * @returns as the row shows it: with the mode of before where the agent has shown no other since
   */
  setControl(key: SessionKey, control: ControlView): ControlView;
  /** Publishes steps that were held, in order, as if they had just arrived. Never rejects. */
  publishReleased(key: SessionKey, steps: StoredStep[]): void | Promise<void>;
}
