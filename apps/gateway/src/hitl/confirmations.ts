/**
 * What agents confirm: that they were told, have taken a directive, or stand still. Durable where it acknowledges a pause; what was
 * merely taken is written behind.
 */
import type { ControlRow, SessionKey, TellGateways } from '#contracts';
import { type Confirmation, decideAcknowledge, isConfirmed } from '#domain/hitl';
import { type CommandRunner, SYSTEM_ACTOR } from './command-runner.js';
import {
  type ControlEntry,
  confirmUpTo,
  hasUnwritten,
  informUpTo,
  pending,
  prunedRow,
  waiting,
} from './control-entry.js';
import type { ControlRegistry } from './control-registry.js';
import type { ControlWriter } from './control-writer.js';
import type { HitlEvents } from './hitl-events.js';
import type { SessionTurns } from './session-turns.js';

/** How an agent confirmed: written to the audit. */
export type ConfirmedVia = 'poll' | 'ack' | 'socket' | 'proxy' | 'gateway';

interface ConfirmationsParts {
  registry: ControlRegistry;
  runner: CommandRunner;
  turns: SessionTurns;
  writer: ControlWriter;
  events: HitlEvents;
  tell: TellGateways;
}

export class Confirmations {
  readonly #parts: ConfirmationsParts;

  constructor(parts: ConfirmationsParts) {
    this.#parts = parts;
  }

  /**
   * Durable when it resolves; rejects as the store does. Confirming twice does nothing.
   * @returns false where nothing of it was waiting: it was confirmed before, or never given
   */
  confirm(key: SessionKey, confirmed: Confirmation, via: ConfirmedVia): Promise<boolean> {
    return this.#parts.turns.alone(key, async (entry) => {
      const isClient = via !== 'proxy' && via !== 'gateway';
      if (isClient) this.show(entry, 'cooperative');
      // A number never issued here belongs to another life of this session: it confirms nothing.
      if (confirmed.kind !== 'taken_ids' && confirmed.upToSeq > entry.row.directive_seq) return false;
      const requestedMs = entry.row.since_ms;
      const informedCount = entry.informed.length;
      const decision = decideAcknowledge(prunedRow(entry), confirmed);
      if (decision.kind === 'apply') {
        const { next, acknowledged } = decision;
        const audit = this.#parts.runner.draft(entry, SYSTEM_ACTOR, 'hitl.acknowledge', { via });
        await this.#parts.writer.commit(entry, {
          next: isClient ? next : { ...next, cooperative: entry.row.cooperative },
          audit: acknowledged ? [{ ...audit, after_state: next.state }] : [],
        });
        if (acknowledged) {
          this.#parts.events.acknowledged(key, via, audit.at_ms - (requestedMs ?? audit.at_ms));
          if (via !== 'gateway') this.#tellAcknowledged(next);
        }
      }
      if (confirmed.kind !== 'shown')
        this.#parts.writer.forget(entry, (directive) => isConfirmed(directive, confirmed));
      if (confirmed.kind === 'taken') confirmUpTo(entry, confirmed.upToSeq);
      return decision.kind === 'apply' || entry.informed.length < informedCount;
    });
  }

  #tellAcknowledged({ tenant_id, session_id }: ControlRow): void {
    this.#parts.tell({ tenant_id, ...SYSTEM_ACTOR, act: { kind: 'acknowledged', session_id } });
  }

  /** The same, behind: what cannot be written is told again. Never throws. */
  confirmSoon(key: SessionKey, confirmed: Confirmation, via: ConfirmedVia): void {
    this.confirm(key, confirmed, via).catch((error: unknown) =>
      this.#parts.events.confirmationDeferred(key, error),
    );
  }

  /**
   * Of a session whose client listens to nothing, the proxy is the one who obeys: what it has carried out waits for
   * nobody any more. Guidance stays until a model has it.
   */
  takeObeyed(entry: ControlEntry): void {
    if (entry.row.cooperative) return;
    const obeyed = waiting(entry).filter(({ type }) => type === 'pause' || type === 'resume');
    if (obeyed.length === 0) return;
    const directiveIds = obeyed.map(({ directive_id }) => directive_id);
    this.confirmSoon(entry.key, { kind: 'taken_ids', directiveIds }, 'proxy');
  }

  /** What its predecessor's answer carried counts as taken. @see ControlDesk */
  noteStep(entry: ControlEntry): void {
    if (informUpTo(entry, entry.offeredSeq)) this.#pruneSoon(entry);
    entry.offeredSeq = entry.row.directive_seq;
  }

  /** By an agent that has these for certain. */
  take(entry: ControlEntry, seq: number): void {
    const before = pending(entry).length;
    confirmUpTo(entry, seq);
    if (pending(entry).length < before) this.#pruneSoon(entry);
  }

  /** What is left to hear is written behind: a crash before that only delivers it again. One write at a time per session. */
  #pruneSoon(entry: ControlEntry): void {
    if (entry.pruneQueued) return;
    entry.pruneQueued = true;
    this.#parts.turns
      .alone(entry.key, async () => {
        entry.pruneQueued = false;
        // A waiting directive makes `load` look at this session again, should the process die before it is drained.
        if (entry.draining) return;
        const next = prunedRow(entry);
        if (next.directives.length < entry.row.directives.length || hasUnwritten(entry))
          await this.#parts.writer.commit(entry, { next });
      })
      .catch((error: unknown) => {
        entry.pruneQueued = false;
        this.#parts.events.confirmationDeferred(entry.key, error);
      });
  }

  /**
   * In memory, and written with the next command; an agent shows it again after a restart. Of a session that may be terminated people
   * see nothing until that is known.
   */
  show(entry: ControlEntry, what: 'cooperative' | 'proxied'): void {
    const { registry, writer } = this.#parts;
    if (entry.row[what]) return;
    entry.row = { ...entry.row, [what]: true };
    registry.settle(entry);
    // Guidance that counted as taken waits for a model again: a start is to find it.
    if (hasUnwritten(entry)) this.#pruneSoon(entry);
    if (!registry.mayHaveLeft(entry.key)) writer.publishControl(entry);
  }
}
