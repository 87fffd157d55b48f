/**
 * The one way a session's control changes: a transaction in the store, then memory, then everyone who watches.
 * A store that refuses rejects the call, and nothing has changed anywhere.
 */
import {
  type AuditDraft,
  type ControlRow,
  type ControlWrite,
  type DecisionStore,
  type Directive,
  type LivePublisher,
  type SessionEvent,
  type StoredStep,
  sessionTopic,
} from '#contracts';
import { stepViewOf } from '#domain/decision-log';
import { holdsMessages } from '#domain/hitl';
import type { SessionDirectory } from '../decision-log/session-directory.js';
import type { ControlDelivery } from './control-delivery.js';
import { asShown, type ControlEntry, controlView, NOT_SWEPT, pending, pollAnswer } from './control-entry.js';
import type { ControlRegistry } from './control-registry.js';
import type { HitlEvents } from './hitl-events.js';

export interface ControlChange {
  /** Absent: only the audit grows. */
  next?: ControlRow;
  audit?: AuditDraft[];
  rewrite?: { trace_id: string; body: string; rewritten_by: string };
  /** The oldest held messages go out in the same transaction; the gate stays closed until HeldGate has drained the rest. */
  releasesHeld?: boolean;
  /** The agent has something new to hear. */
  tellsAgent?: boolean;
}

export interface ControlWriterOptions {
  store: Pick<DecisionStore, 'commitControl'>;
  live: LivePublisher;
  registry: ControlRegistry;
  delivery: ControlDelivery;
  events: HitlEvents;
}

export class ControlWriter {
  readonly #options: ControlWriterOptions;
  #sessions: SessionDirectory | undefined;

  constructor(options: ControlWriterOptions) {
    this.#options = options;
  }

  /** The session directory needs the desk and the desk the directory: this end is tied late, before anything is served. */
  connect(sessions: SessionDirectory): void {
    this.#sessions = sessions;
  }

  get sessions(): SessionDirectory {
    if (this.#sessions === undefined) throw new Error('HitlDesk.connect(sessions) was not called');
    return this.#sessions;
  }

  /**
   * Returns how many held messages were published; null if `rewrite` found no held step (then nothing was written).
   * Rejects as the store does.
   */
  async commit(entry: ControlEntry, change: ControlChange): Promise<{ releasedCount: number } | null> {
    const { tenant_id, session_id } = entry.row;
    const write: ControlWrite = { audit: change.audit };
    if (change.next !== undefined) write.control = change.next;
    if (change.rewrite !== undefined) write.rewrite = { tenant_id, session_id, ...change.rewrite };
    if (change.releasesHeld) write.release = { tenant_id, session_id };
    const answersBefore = entry.holdAnswerCount;
    const commit = await this.#options.store.commitControl(write);
    if (change.rewrite !== undefined && commit.rewritten === null) return null;
    if (change.next !== undefined) {
      entry.row = asShown(change.next, entry.row);
      // A pause ends an unfinished release: what is left stays held. Any other change lets it go on.
      entry.draining = change.releasesHeld === true || (entry.draining && !holdsMessages(entry.row.state));
      if (change.releasesHeld) entry.sweptAnswerCount = commit.has_more_held ? NOT_SWEPT : answersBefore;
      this.#options.registry.settle(entry);
    }
    await this.#publishReleased(entry, commit.released);
    if (commit.rewritten !== null) {
      this.#publish(entry, { kind: 'rewritten', step: stepViewOf(commit.rewritten) });
    }
    for (const audited of commit.audit) this.#publish(entry, { kind: 'audit', entry: audited });
    if (change.next !== undefined) this.publishControl(entry);
    if (change.tellsAgent) this.#options.delivery.announce(entry.key, () => pollAnswer(entry));
    return { releasedCount: commit.released.length };
  }

  /** Of what ingest answers carried, that is over; shown where a model was still to hear it. */
  forget(entry: ControlEntry, isOver: (directive: Directive) => boolean): void {
    const pendingCount = pending(entry).length;
    entry.informed = entry.informed.filter((directive) => !isOver(directive));
    if (pending(entry).length === pendingCount) return;
    this.#options.registry.settle(entry);
    this.publishControl(entry);
  }

  /** One release and nothing else. Rejects as the store does. */
  async release(entry: ControlEntry): Promise<number> {
    const { tenant_id, session_id } = entry.row;
    entry.sweptAnswerCount = entry.holdAnswerCount;
    const write = { release: { tenant_id, session_id } };
    const { released, has_more_held } = await this.#options.store.commitControl(write);
    if (has_more_held) entry.sweptAnswerCount = NOT_SWEPT;
    await this.#publishReleased(entry, released);
    return released.length;
  }

  /**
   * The row goes without its directives, so that no start loads it; in memory they wait on, and the cursor stays.
   * Rejects as the store does.
   */
  async shelve(entry: ControlEntry): Promise<void> {
    await this.#options.store.commitControl({ control: { ...entry.row, directives: [] } });
  }

  async #publishReleased(entry: ControlEntry, steps: StoredStep[]): Promise<void> {
    if (steps.length === 0) return;
    // Stored and released in one commit: let the ingest path show them as held first. The gate is still closed.
    if (entry.heldBalance < steps.length) await new Promise(setImmediate);
    entry.heldBalance -= steps.length;
    this.#options.events.released(entry.key, steps.length);
    this.#publish(entry, { kind: 'released', trace_ids: steps.map((step) => step.trace_id) });
    await this.sessions.publishReleased(entry.key, steps);
  }

  /** The session's row in every list, and its control on its own topic. */
  publishControl(entry: ControlEntry): void {
    const control = this.sessions.setControl(entry.key, controlView(entry));
    this.#publish(entry, { kind: 'control', control, directives: pending(entry) });
  }

  #publish(entry: ControlEntry, event: SessionEvent): void {
    this.#options.live.publish(entry.row.tenant_id, sessionTopic(entry.row.session_id), event);
  }
}
