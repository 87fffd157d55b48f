/** What sessions tell alerting: their steps and their control, as they come and, at a start, as they were before it. */
import {
  type ControlView,
  type ExpiryAction,
  type SessionKey,
  type StoredStep,
  splitSessionKey,
  tenantIdOf,
} from '#contracts';
import type { Clock } from '#kernel';
import type { SessionRegistry } from '../decision-log/session-registry.js';
import type { AlertMonitor } from './alert-monitor.js';
import { PersonWaits } from './person-waits.js';

type Paused = readonly [SessionKey, ControlView];

/** What a start finds. */
export interface KnownSessions {
  /** Those in memory. */
  sessions: Pick<SessionRegistry, 'entries'>;
  /** All that hold messages. */
  paused(): Iterable<Paused>;
}

export class SessionWatch {
  readonly #monitor: AlertMonitor;
  readonly #parts: { clock: Clock; expiryAction(): ExpiryAction };
  readonly #personWaits = new PersonWaits();

  /** @param parts `expiryAction`: what becomes of a session when its pause expires */
  constructor(monitor: AlertMonitor, parts: { clock: Clock; expiryAction(): ExpiryAction }) {
    this.#monitor = monitor;
    this.#parts = parts;
  }

  /** Makes known when each agent was seen, and which were stopped, in a loop or waiting for a person. */
  prime({ sessions, paused }: KnownSessions): void {
    const terminated = new Map<string, Set<string>>();
    for (const [key, view] of sessions.entries()) {
      const tenant_id = tenantIdOf(key);
      const { agent_id, session_id, last_seen_ms: at_ms, severity, control } = view;
      const isTerminated = control.state === 'terminated';
      // In no loop any more: nobody is to be told before it is known what people were.
      const ended = view.ended || isTerminated;
      this.#monitor.prime({ kind: 'step', tenant_id, agent_id, session_id, at_ms, severity, ended });
      if (isTerminated) terminated.set(tenant_id, (terminated.get(tenant_id) ?? new Set()).add(session_id));
    }
    for (const [key, control] of [...paused()].sort(bySince)) {
      this.#notePause(key, control);
      const sinceMs = control.since_ms ?? this.#parts.clock.nowMs();
      for (const agentId of this.#personWaits.note(key, control).began)
        this.#monitor.prime(this.#personFact(key, agentId, control, true, sinceMs));
    }
    for (const [tenantId, sessionIds] of terminated) this.#monitor.noteTerminated(tenantId, sessionIds);
  }

  /** A stored step of any agent. */
  noteStep(step: StoredStep): void {
    const { tenant_id, agent_id, session_id, received_at_ms, entropy_severity, log } = step;
    this.#monitor.note({
      kind: 'step',
      tenant_id,
      agent_id,
      session_id,
      at_ms: received_at_ms,
      severity: entropy_severity,
      ended: log.control?.is_terminal === true,
    });
  }

  /**
   * A session's control may have changed: it is paused, goes on or was terminated, one of its agents asks for a person, or somebody
   * came. The session need not be in memory.
   */
  noteControl(key: SessionKey, control: ControlView): void {
    this.#notePause(key, control);
    const { tenantId, sessionId } = splitSessionKey(key);
    if (control.state === 'terminated') this.#monitor.noteTerminated(tenantId, new Set([sessionId]));
    const { began, ended } = this.#personWaits.note(key, control);
    const nowMs = this.#parts.clock.nowMs();
    for (const agentId of began) this.#monitor.note(this.#personFact(key, agentId, control, true, nowMs));
    for (const agentId of ended) this.#monitor.note(this.#personFact(key, agentId, control, false, nowMs));
  }

  #notePause(key: SessionKey, { state }: ControlView): void {
    const { tenantId, sessionId } = splitSessionKey(key);
    this.#monitor.notePause(tenantId, sessionId, state === 'paused' || state === 'pause_requested');
  }

  #personFact(
    key: SessionKey,
    agent_id: string,
    { expires_at_ms }: ControlView,
    awaited: boolean,
    at_ms: number,
  ) {
    const { tenantId: tenant_id, sessionId: session_id } = splitSessionKey(key);
    const on_expiry = this.#parts.expiryAction();
    return {
      kind: 'person',
      tenant_id,
      agent_id,
      session_id,
      at_ms,
      awaited,
      expires_at_ms,
      on_expiry,
    } as const;
  }
}

const bySince = ([, one]: Paused, [, other]: Paused): number => (one.since_ms ?? 0) - (other.since_ms ?? 0);
