/**
 * Commands from body to answer: parse, decide, commit, tell. Each runs alone in its session, so of two operators who
 * pause at once one wins and the other reads `already_paused`. Everything that reaches an existing session is audited,
 * refusals included.
 */
import {
  type AuditDraft,
  type Command,
  type CommandAnswer,
  type ControlRow,
  type ControlState,
  type DecisionStore,
  type ErrorCode,
  type HitlCommand,
  ObservatoryError,
  RUNTIME_CONFIG_DEFAULTS,
  type RuntimeConfig,
  type RuntimeConfigSource,
  runtimeConfigSchema,
  SYSTEM_OPERATOR,
  type TellGateways,
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
import { type Auditor, requireInForce, whereCommanded } from '../auth/settings-audit.js';
import { codeToldOf } from '../errors/refusal.js';
import { hasNoRoomYet } from '../has-no-room-yet.js';
import { BOUND_MET } from './control-bounds.js';
import { type ControlEntry, pauseLeftMs, prunedRow } from './control-entry.js';
import type { ControlRegistry } from './control-registry.js';
import type { ControlWriter } from './control-writer.js';
import type { HitlEvents } from './hitl-events.js';

export const SYSTEM_ACTOR: Auditor = { operator_id: SYSTEM_OPERATOR, role: 'system' };

export interface CommandRunnerOptions {
  store: Pick<DecisionStore, 'heldStep'>;
  clock: Clock;
  ids: IdSource;
  config: RuntimeConfigSource;
  registry: ControlRegistry;
  writer: ControlWriter;
  events: HitlEvents;
  tell: TellGateways;
}

/** What a command has beside itself. */
export interface CommandOrigin {
  /** The agent that asked for this pause, and so for a person. */
  askedBy?: string | undefined;
  /** Of the directive, and when it was issued, where another gateway has done so already. */
  directiveId?: string;
  atMs?: number;
  /** A pause was over. Its time passes at every gateway: told, this might end one that was given anew elsewhere. */
  isExpiry?: boolean;
}

/** Every method expects to run alone in the session of `entry`. @see ChangeQueue */
export class CommandRunner {
  readonly #options: CommandRunnerOptions;

  constructor(options: CommandRunnerOptions) {
    this.#options = options;
  }

  /** An operator's command. Throws the catalogue's refusals, and what the store throws. */
  execute(entry: ControlEntry, actor: Auditor, command: Command, body: unknown): Promise<CommandAnswer> {
    return this.#counted(entry, actor, command, () => this.#execute(entry, actor, command, body));
  }

  /** A command that is well formed, on a session that exists. */
  run(
    entry: ControlEntry,
    actor: Auditor,
    command: HitlCommand,
    origin: CommandOrigin = {},
  ): Promise<CommandAnswer> {
    return this.#counted(entry, actor, command.command, () => this.#run(entry, actor, command, origin));
  }

  /** Whatever refuses it: a store without room says so to the operator, too. What another gateway was told is tried again then. */
  async #counted(
    entry: ControlEntry,
    actor: Auditor,
    command: Command,
    carryOut: () => Promise<CommandAnswer>,
  ): Promise<CommandAnswer> {
    try {
      return await carryOut();
    } catch (error) {
      if (actor.gateway_id === undefined || !hasNoRoomYet(error))
        this.#options.events.commandDone(entry.key, command, actor.operator_id, codeToldOf(error));
      throw error;
    }
  }

  async #execute(
    entry: ControlEntry,
    actor: Auditor,
    command: Command,
    body: unknown,
  ): Promise<CommandAnswer> {
    if (!(await this.#exists(entry))) throw new ObservatoryError('session_not_found');
    const parsed = parseCommandBody(command, body);
    if (!parsed.ok) {
      const { fields, detail } = parsed;
      await this.#auditRefusal(entry, actor, command, 'invalid_fields', { fields });
      throw new ObservatoryError('invalid_fields', detail, { fields });
    }
    return this.#run(entry, actor, parsed.command, {});
  }

  async #run(
    entry: ControlEntry,
    actor: Auditor,
    command: HitlCommand,
    origin: CommandOrigin,
  ): Promise<CommandAnswer> {
    if (command.command !== 'pause' && command.command !== 'inject')
      return this.#carryOut(entry, actor, command, origin);
    const { registry, events } = this.#options;
    const bound = registry.reserve(actor.operator_id, entry);
    if (bound !== null) {
      events.refusedByBound(entry.key, bound);
      // Not the store's, which may have room in a moment: words of other gateways do not wait for it.
      if (actor.gateway_id !== undefined) throw new ObservatoryError('too_many_directives', BOUND_MET[bound]);
      throw new ObservatoryError('store_busy', BOUND_MET[bound], { retryAfterSeconds: 60 });
    }
    try {
      return await this.#carryOut(entry, actor, command, origin);
    } finally {
      registry.release(entry);
    }
  }

  async #carryOut(
    entry: ControlEntry,
    actor: Auditor,
    command: HitlCommand,
    { askedBy, directiveId = this.#options.ids.next(), atMs, isExpiry = false }: CommandOrigin,
  ): Promise<CommandAnswer> {
    const nowMs = atMs ?? this.#options.clock.nowMs();
    const { tenant_id, session_id } = entry.row;
    const held =
      command.command === 'rewrite'
        ? await this.#options.store.heldStep(tenant_id, session_id, command.trace_id)
        : null;
    const decision = decideCommand(prunedRow(entry), command, {
      operatorId: actor.operator_id,
      nowMs,
      pauseTtlMs: command.command === 'pause' ? this.#setting('hitl_pause_ttl_ms') : 0,
      directiveId,
      isHeld: held !== null,
      askedBy,
    });
    const { command: name, ...detail } = command;
    if (decision.kind === 'refuse') {
      await this.#auditRefusal(entry, actor, name, decision.code, detail);
      throw new ObservatoryError(decision.code);
    }
    const audit = this.draft(entry, actor, name, detail);
    const tell = () => {
      if (!isExpiry) this.#tell(entry, actor, command, directiveId);
    };
    if (decision.kind === 'noop') {
      // What another gateway says again is no news.
      if (actor.gateway_id !== undefined) return { status: 'ok', note: decision.note };
      await this.#options.writer.commit(entry, { audit: [{ ...audit, outcome: decision.note }] });
      tell();
      this.#options.events.commandDone(entry.key, name, actor.operator_id, decision.note);
      return { status: 'ok', note: decision.note, ...(name === 'resume' ? { flushed_count: 0 } : {}) };
    }
    const committed = await this.#options.writer.commit(entry, {
      next: await this.#asHeardHere(entry, actor, decision.next),
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
    // By a clock that was set back it may end when an earlier one did.
    if (name === 'pause') entry.due = null;
    tell();
    this.#options.writer.forget(entry, ({ type }) => supersedes(name, type));
    this.#options.events.commandDone(entry.key, name, actor.operator_id, 'ok');
    return { status: 'ok', ...(name === 'resume' ? { flushed_count: committed.releasedCount } : {}) };
  }

  /**
   * To the others what was commanded here. A rewrite changes a message that this gateway alone holds; who asked for a person was
   * heard here, and people are told of it once.
   */
  #tell(
    { row: { tenant_id, session_id } }: ControlEntry,
    { operator_id, role, gateway_id }: Auditor,
    command: HitlCommand,
    directive_id: string,
  ): void {
    if (gateway_id !== undefined || command.command === 'rewrite') return;
    const act = { kind: 'command', session_id, command, directive_id } as const;
    this.#options.tell({ tenant_id, operator_id, role, act });
  }

  /**
   * A session that only other gateways have seen has nobody here who takes a directive: its state says as much, and a row that
   * waits for somebody to hear it would be under control for ever.
   */
  async #asHeardHere(entry: ControlEntry, { gateway_id }: Auditor, next: ControlRow): Promise<ControlRow> {
    if (gateway_id === undefined || (await this.isSeen(entry))) return next;
    return { ...next, directive_seq: entry.row.directive_seq, directives: [] };
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
    if (decision.kind === 'resolve')
      await this.run(entry, SYSTEM_ACTOR, decision.command, { isExpiry: true });
  }

  /**
   * An audit line as of now: success without a change of state, until told otherwise.
   * @throws ObservatoryError unauthorized where whoever asked may no longer
   */
  draft(entry: ControlEntry, actor: Auditor, action: string, detail: Record<string, unknown>): AuditDraft {
    requireInForce(actor);
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
      detail: whereCommanded(actor, detail),
    };
  }

  async #auditRefusal(
    entry: ControlEntry,
    actor: Auditor,
    action: Command,
    code: ErrorCode,
    detail: Record<string, unknown>,
  ): Promise<void> {
    await this.#options.writer.commit(entry, {
      audit: [{ ...this.draft(entry, actor, action, detail), outcome: code }],
    });
  }

  /**
   * A session that was ever commanded exists, even if its steps are gone by retention; so does one whose calls the proxy
   * has seen, which has no steps of its own where its agent reports them under another session.
   */
  async #exists(entry: ControlEntry): Promise<boolean> {
    const { directive_seq, state, proxied } = entry.row;
    return directive_seq > 0 || state !== 'active' || proxied || (await this.#hasSteps(entry));
  }

  /** Its agent has been at this gateway, if only to listen. Rejects as the store does. */
  async isSeen(entry: ControlEntry): Promise<boolean> {
    const { proxied, cooperative } = entry.row;
    return proxied || cooperative || (await this.#hasSteps(entry));
  }

  async #hasSteps({ key }: ControlEntry): Promise<boolean> {
    return (await this.#options.writer.sessions.find(key)) !== null;
  }

  /** Read on each use; a value of the wrong type falls back to the default with a warning. */
  #setting<K extends 'hitl_pause_ttl_ms' | 'hitl_expiry_action'>(key: K): RuntimeConfig[K] {
    const parsed = runtimeConfigSchema.shape[key].safeParse(this.#options.config.get(key));
    if (parsed.success) return parsed.data as RuntimeConfig[K];
    this.#options.events.settingUnusable(key, RUNTIME_CONFIG_DEFAULTS[key]);
    return RUNTIME_CONFIG_DEFAULTS[key];
  }
}
