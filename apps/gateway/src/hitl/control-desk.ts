/** The control of all sessions, as the ingest path and the sockets see it. Implemented by hitl. */
import type { AgentControl, ControlView, Directive, SessionKey } from '#contracts';
import type { Interrupt } from '#kernel';

export interface ControlDesk {
  /**
   * To be waited for before a session's message or call is taken: one that was terminated may have left memory. Null where
   * there is nothing to wait for; else one look into the store, and rejects as that does.
   */
  recall(key: SessionKey): Promise<void> | null;
  /**
   * Synchronous: asked for every message. True while messages of the session must be stored as held; who is told so
   * hands the message to the store in the same turn.
   */
  isHolding(key: SessionKey): boolean;
  /** One more message of this session was stored as held: counted and shown. */
  noteHeld(key: SessionKey): void;
  /** Pauses as operator `system`, unless somebody has; resolves when durable. False: the session is over. */
  pauseBySystem(key: SessionKey, reason: string): Promise<boolean>;
  /**
   * `hitl_required`: pauses the session as `system` does, unless somebody has, and keeps which of its agents asked.
   * Resolves when durable.
   */
  askForPerson(key: SessionKey, agentId: string): Promise<void>;
  /** State and waiting directives, for an ingest answer or a look. Synchronous; changes nothing. */
  answerFor(key: SessionKey): AgentControl;
  /**
   * A new step came in: the directives given in its predecessor's answer count as taken. Once for a request, whose steps are
   * answered together, and just before `answerFor`, in the same turn: what waits then is what this step's answer gives.
   */
  noteStep(key: SessionKey): void;
  /** An agent holds a socket for this session: it hears control at once. Returns the detach function. */
  attachListener(
    key: SessionKey,
    push: (control: AgentControl & { session_id: string; cursor: number }) => void,
  ): () => void;
  /** The agent confirms directives up to `seq`, which acknowledges a requested pause. */
  acknowledge(key: SessionKey, seq: number): Promise<void>;
  view(key: SessionKey): ControlView;
  /** What the view counts, oldest first. */
  pendingDirectives(key: SessionKey): Directive[];
  /** Every session that holds messages, in no order; a session that left the list's memory is among them. */
  paused(): Iterable<readonly [SessionKey, ControlView]>;
  /**
   * State and directives for an LLM call: guidance waits for a model, whatever ingest answers carried; and a session whose pause or
   * termination is being written is paused for it. Otherwise as `answerFor`.
   */
  answerForCall(key: SessionKey): AgentControl;
  /** An LLM call of this session passes the proxy: its control is enforced. About 0.2 us once known. */
  noteProxied(key: SessionKey): void;
  /**
   * Waits while the session is paused, `waitMs` at most or until `interrupt` is raised, and acknowledges a requested pause:
   * the agent stands still. Returns `answerForCall` as it is then. Throws `too_many_polls`; rejects as the store does.
   */
  holdCall(key: SessionKey, wait: { waitMs: number; interrupt: Interrupt }): Promise<AgentControl>;
  /** An LLM call waits for something else: it hears of every change, and is no client that listens. Returns the detach function. */
  onChanged(key: SessionKey, changed: () => void): () => void;
  /** The model was given these. Durable when it resolves; rejects as the store does. */
  takeInjections(key: SessionKey, directiveIds: readonly string[]): Promise<void>;
}

export const CONTROL_DESK = Symbol('ControlDesk');
