/**
 * Commands from body to answer: parse, decide, commit, tell. Each runs alone in its session, so of two operators who
 * pause at once one wins and the other reads `already_paused`. Everything that reaches an existing session is audited,
 * refusals included.
 */
import {
  type AuditDraft,
  type Command,
  type CommandAnswer,
  type ControlState,
  type DecisionStore,
  type ErrorCode,
  type HitlCommand,
  ObservatoryError,
  type Role,
  RUNTIME_CONFIG_DEFAULTS,
  type RuntimeConfig,
  type RuntimeConfigSource,
  runtimeConfigSchema,
  SYSTEM_OPERATOR,
} from '#contracts';
import {
  decideAsk,
  decideCommand,
  decideExpiry,
  parseCommandBody,
  rewriteHeld,
  supersedes,
} from '#domain/hitl';
import type { Clock, IdSource } from '#kernel';
import { BOUND_MET } from './control-bounds.js';
import { type ControlEntry, pauseLeftMs, prunedRow } from './control-entry.js';
import type { ControlRegistry } from './control-registry.js';
import type { ControlWriter } from './control-writer.js';
import type { HitlEvents } from './hitl-events.js';

/** Who acts: an operator, or the gateway itself. */
export interface Actor {
  operator_id: string;
  role: Role | 'system';
}

export const SYSTEM_ACTOR: Actor = { operator_id: SYSTEM_OPERATOR, role: 'system' };

export interface CommandRunnerOptions {
  store: Pick<DecisionStore, 'heldStep'>;
  clock: Clock;
  ids: IdSource;
  config: RuntimeConfigSource;
  registry: ControlRegistry;
  writer: ControlWriter;
  events: HitlEvents;
}

/** Every method expects to run alone in the session of `entry`. @see ChangeQueue */
export class CommandRunner {
  readonly #options: CommandRunnerOptions;

  constructor(options: CommandRunnerOptions) {
    this.#options = options;
  }

  /** An operator's command. Throws the catalogue's refusals, and what the store throws. */
  async execute(entry: ControlEntry, actor: Actor, command: Command, body: unknown): Promise<CommandAnswer> {
    if (!(await this.#exists(entry))) throw new ObservatoryError('session_not_found');
    const parsed = parseCommandBody(command, body);
    if (!parsed.ok) {
      const { fields, detail } = parsed;
      await this.#auditRefusal(entry, actor, command, 'invalid_fields', { fields });
      throw new ObservatoryError('invalid_fields', detail, { fields });
    }
    return this.run(entry, actor, parsed.command);
  }

  /**
   * A command that is well formed, on a session that exists.
   * @param askedBy the agent that asked for this pause, and so for a person
   */
  async run(
    entry: ControlEntry,
    actor: Actor,
    command: HitlCommand,
    askedBy?: string,
  ): Promise<CommandAnswer> {
    if (command.command !== 'pause' && command.command !== 'inject')
      return this.#carryOut(entry, actor, command);
    const { registry, events } = this.#options;
    const bound = registry.reserve(actor.operator_id, entry);
    if (bound !== null) {
      events.refusedByBound(entry.key, bound);
      throw new ObservatoryError('store_busy', BOUND_MET[bound], { retryAfterSeconds: 60 });
    }
    try {
      return await this.#carryOut(entry, actor, command, askedBy);
    } finally {
      registry.release(entry);
    }
  }

  async #carryOut(
    entry: ControlEntry,
    actor: Actor,
    command: HitlCommand,
    askedBy?: string,
  ): Promise<CommandAnswer> {
    const { clock, ids } = this.#options;
    const { tenant_id, session_id } = entry.row;
    const held =
      command.command === 'rewrite'
        ? await this.#options.store.heldStep(tenant_id, session_id, command.trace_id)
        : null;
    const decision = decideCommand(prunedRow(entry), command, {
      operatorId: actor.operator_id,
      nowMs: clock.nowMs(),
      pauseTtlMs: command.command === 'pause' ? this.#setting('hitl_pause_ttl_ms') : 0,
      directiveId: ids.next(),
      isHeld: held !== null,
      askedBy,
    });
    const { command: name, ...detail } = command;
    if (decision.kind === 'refuse') {
      await this.#auditRefusal(entry, actor, name, decision.code, detail);
      throw new ObservatoryError(decision.code);
    }
    const audit = this.draft(entry, actor, name, detail);
    if (decision.kind === 'noop') {
      await this.#options.writer.commit(entry, { audit: [{ ...audit, outcome: decision.note }] });
      this.#options.events.commandDone(entry.key, name, actor.operator_id, decision.note);
      return { status: 'ok', note: decision.note, ...(name === 'resume' ? { flushed_count: 0 } : {}) };
    }
    const committed = await this.#options.writer.commit(entry, {
      next: decision.next,
      audit: [{ ...audit, after_state: decision.next.state }],
      releasesHeld: decision.releasesHeld,
      tellsAgent: true,
      ...(held && command.command === 'rewrite'
        ? {
            rewrite: {
              trace_id: command.trace_id,
              body: JSON.stringify(rewriteHeld(held.log, command.new_content)),
              rewritten_by: actor.operator_id,
            },
          }
        : {}),
    });
    if (committed === null) {
      await this.#auditRefusal(entry, actor, name, 'held_message_not_found', detail);
      throw new ObservatoryError('held_message_not_found');
    }
    entry.informed = entry.informed.filter((directive) => !supersedes(name, directive.type));
    this.#options.events.commandDone(entry.key, name, actor.operator_id, 'ok');
    return { status: 'ok', ...(name === 'resume' ? { flushed_count: committed.releasedCount } : {}) };
  }

  /** One more agent of a paused session asks for a person. Rejects as the store does. */
  async noteAsker(entry: ControlEntry, agentId: string): Promise<void> {
    const decision = decideAsk(prunedRow(entry), agentId);
    if (decision.kind === 'full') this.#options.events.askerHasNoPlace();
    if (decision.kind === 'apply')
      await this.#options.writer.commit(entry, { next: decision.next, audit: [] });
  }

  /** Ends a pause that is due, by policy; does nothing otherwise. Rejects as the store does. */
  async expire(entry: ControlEntry): Promise<void> {
    const action = this.#setting('hitl_expiry_action');
    const leftMs = pauseLeftMs(entry, this.#options.clock);
    const isDue = leftMs !== null && leftMs <= 0;
    let decision = decideExpiry(prunedRow(entry), isDue, action);
    if (decision.kind === 'expire') {
      const audit = this.draft(entry, SYSTEM_ACTOR, 'hitl.expire', { policy: action });
      await this.#options.writer.commit(entry, {
        next: decision.next,
        audit: [{ ...audit, after_state: decision.next.state }],
      });
      this.#options.events.expired(entry.key, action);
      decision = decideExpiry(prunedRow(entry), isDue, action);
    }
    if (decision.kind === 'resolve') await this.run(entry, SYSTEM_ACTOR, decision.command);
  }

  /** An audit line as of now: success without a change of state, until told otherwise. */
  draft(entry: ControlEntry, actor: Actor, action: string, detail: Record<string, unknown>): AuditDraft {
    const state: ControlState = entry.row.state;
    return {
      tenant_id: entry.row.tenant_id,
      at_ms: this.#options.clock.nowMs(),
      operator_id: actor.operator_id,
      role: actor.role,
      action,
      session_id: entry.row.session_id,
      before_state: state,
      after_state: state,
      outcome: 'ok',
      detail,
    };
  }

  async #auditRefusal(
    entry: ControlEntry,
    actor: Actor,
    action: Command,
    code: ErrorCode,
    detail: Record<string, unknown>,
  ): Promise<void> {
    await this.#options.writer.commit(entry, {
      audit: [{ ...this.draft(entry, actor, action, detail), outcome: code }],
    });
    this.#options.events.commandDone(entry.key, action, actor.operator_id, code);
  }

  /**
   * A session that was ever commanded exists, even if its steps are gone by retention; so does one whose calls the proxy
   * has seen, which has no steps of its own where its agent reports them under another session.
   */
  async #exists(entry: ControlEntry): Promise<boolean> {
    if (entry.row.directive_seq > 0 || entry.row.proxied) return true;
    return (await this.#options.writer.sessions.find(entry.key)) !== null;
  }

  /** Read on each use; a value of the wrong type falls back to the default with a warning. */
  #setting<K extends 'hitl_pause_ttl_ms' | 'hitl_expiry_action'>(key: K): RuntimeConfig[K] {
    const parsed = runtimeConfigSchema.shape[key].safeParse(this.#options.config.get(key));
    if (parsed.success) return parsed.data as RuntimeConfig[K];
    this.#options.events.settingUnusable(key, RUNTIME_CONFIG_DEFAULTS[key]);
    return RUNTIME_CONFIG_DEFAULTS[key];
  }
}
