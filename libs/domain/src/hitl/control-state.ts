/**
 * The control of one session as a pure state machine: a command, an acknowledgement or the passing of time goes in,
 * a decision comes out. Does no I/O and keeps nothing; the desk in the gateway acts on what is decided here.
 *
 *                      resume                                   agent acknowledges
 *        +-----------------------------+                   +-------------------------+
 *        v                             |                   |                         v
 *     active ------- pause ---> pause_requested -----------+                      paused
 *        ^                        |    |   ^                                     |   |   |
 *        |                        |    |   +------- pause -------+               |   |   |
 *        |                        |    +------ time is up ---> expired <- time --+   |   |
 *        +------- resume (operator, or system by policy) --------+                   |   |
 *        +------- resume ------------------------------------------------------------+   |
 *                                                                                        |
 *     any state but terminated ---- terminate (operator, or system by policy) ----> terminated (final)
 *
 * Messages are held in pause_requested, paused and expired; every edge out of these releases them (`releasesHeld`).
 * `inject` and `rewrite` move no state. Every applied command issues exactly one directive.
 */
import {
  type AgentControlState,
  type CommandAnswer,
  type ControlRow,
  type ControlState,
  type Directive,
  type ErrorCode,
  type ExpiryAction,
  type HitlCommand,
  SYSTEM_OPERATOR,
} from '#contracts';
import { type DirectiveContext, issueDirective } from './directives.js';

/** What a decision needs to know beyond the row and the command. */
export interface CommandContext extends DirectiveContext {
  /** A pause made now expires after this; 0 = never. */
  pauseTtlMs: number;
  /** Read for `rewrite` only: its trace_id names a message that is held now. */
  isHeld: boolean;
  /** Read for `pause` only: the agent that asked for it, and so for a person. */
  askedBy?: string | undefined;
}

export type CommandNote = NonNullable<CommandAnswer['note']>;

export type CommandDecision =
  | {
      readonly kind: 'apply';
      readonly next: ControlRow;
      readonly directive: Directive;
      /** The step from a holding state to one that does not hold: held messages go out with this commit. */
      readonly releasesHeld: boolean;
    }
  /** Nothing changes and no directive is issued; the answer is still `ok`. */
  | { readonly kind: 'noop'; readonly note: CommandNote }
  | {
      readonly kind: 'refuse';
      readonly code: Extract<
        ErrorCode,
        'session_terminated' | 'held_message_not_found' | 'too_many_directives'
      >;
    };

/** What an agent confirmed. `shown` acknowledges a pause but leaves the directives waiting until they are taken. */
export type Confirmation =
  | { readonly kind: 'taken'; readonly upToSeq: number }
  | { readonly kind: 'taken_ids'; readonly directiveIds: readonly string[] }
  | { readonly kind: 'shown'; readonly upToSeq: number };

export type AcknowledgeDecision =
  | { readonly kind: 'none' }
  /** `acknowledged`: the requested pause became a pause, not merely directives taken. */
  | { readonly kind: 'apply'; readonly next: ControlRow; readonly acknowledged: boolean };

export type ExpiryDecision =
  /** Not paused, or not yet. */
  | { readonly kind: 'none' }
  /** First step: the pause is over, the policy has not run. */
  | { readonly kind: 'expire'; readonly next: ControlRow }
  /** Second step: the policy as an ordinary command of operator `system`. */
  | { readonly kind: 'resolve'; readonly command: HitlCommand };

/** The row of a session nobody has commanded yet. */
export const initialControl = (tenantId: string, sessionId: string): ControlRow => ({
  tenant_id: tenantId,
  session_id: sessionId,
  state: 'active',
  operator_id: null,
  reason: null,
  asked_by: [],
  since_ms: null,
  expires_at_ms: null,
  cooperative: false,
  proxied: false,
  directive_seq: 0,
  directives: [],
});

/** In these states messages are stored as held and not published. */
export const holdsMessages = (state: ControlState): boolean =>
  state === 'pause_requested' || state === 'paused' || state === 'expired';

/** What the agent sees: a requested pause is a pause to it, and an expired one stays a pause until it is resolved. */
export function agentStateOf(state: ControlState): AgentControlState {
  return state === 'active' || state === 'terminated' ? state : 'paused';
}

/** Never throws; the row given is not changed. */
export function decideCommand(
  control: ControlRow,
  command: HitlCommand,
  context: CommandContext,
): CommandDecision {
  if (control.state === 'terminated') {
    return command.command === 'terminate'
      ? { kind: 'noop', note: 'already_terminated' }
      : { kind: 'refuse', code: 'session_terminated' };
  }
  const holding = holdsMessages(control.state);
  if (command.command === 'pause' && holding && control.state !== 'expired') {
    return { kind: 'noop', note: 'already_paused' };
  }
  if (command.command === 'resume' && !holding) return { kind: 'noop', note: 'not_paused' };
  if (command.command === 'rewrite' && !(holding && context.isHeld)) {
    return { kind: 'refuse', code: 'held_message_not_found' };
  }
  const issued = issueDirective(control, command, context);
  if (issued === 'too_many_directives') return { kind: 'refuse', code: issued };
  const next = { ...control, ...issued.row, ...stateAfter(command, context) };
  return {
    kind: 'apply',
    next,
    directive: issued.directive,
    releasesHeld: holding && !holdsMessages(next.state),
  };
}

/** The columns a command changes, directives aside. `inject` and `rewrite` change none. */
function stateAfter(command: HitlCommand, context: CommandContext): Partial<ControlRow> {
  const { operatorId, nowMs, pauseTtlMs, askedBy } = context;
  const by = { operator_id: operatorId, since_ms: nowMs };
  switch (command.command) {
    case 'pause':
      return {
        ...by,
        state: 'pause_requested',
        reason: command.reason,
        asked_by: askedBy === undefined ? [] : [askedBy],
        expires_at_ms: pauseTtlMs > 0 ? nowMs + pauseTtlMs : null,
      };
    case 'resume':
      return { ...by, state: 'active', reason: null, asked_by: [], expires_at_ms: null };
    case 'terminate':
      return { ...by, state: 'terminated', reason: command.reason, asked_by: [], expires_at_ms: null };
    case 'inject':
    case 'rewrite':
      return {};
  }
}

/**
 * A requested pause is acknowledged as soon as no pause directive waits beyond what the agent confirmed: either it
 * confirmed the directive itself, or it had already taken it from an ingest answer and now speaks up. Directives by their
 * ids are the proxy's word, which speaks for the agent of those alone: a model that heard guidance knows of no pause.
 * `since_ms` stays: it counts from the operator's click.
 */
export function decideAcknowledge(control: ControlRow, confirmed: Confirmation): AcknowledgeDecision {
  const beyond = control.directives.filter((directive) => !isConfirmed(directive, confirmed));
  const isPause = (directive: Directive): boolean => directive.type === 'pause';
  const hasPause =
    confirmed.kind === 'taken_ids'
      ? control.directives.some((directive) => isPause(directive) && !beyond.includes(directive))
      : !beyond.some(isPause);
  const acknowledged = control.state === 'pause_requested' && hasPause;
  const directives = confirmed.kind === 'shown' ? control.directives : beyond;
  if (!acknowledged && directives.length === control.directives.length) return { kind: 'none' };
  return {
    kind: 'apply',
    acknowledged,
    next: { ...control, cooperative: true, directives, state: acknowledged ? 'paused' : control.state },
  };
}

/** `shown` confirms that it was told, not that it is taken. */
export function isConfirmed(directive: Directive, confirmed: Confirmation): boolean {
  return confirmed.kind === 'taken_ids'
    ? confirmed.directiveIds.includes(directive.directive_id)
    : directive.seq <= confirmed.upToSeq;
}

/**
 * Called when time passes; twice for one expiry, so that `expired` is durable before the policy runs and a gateway
 * that dies in between finishes the job at its next start.
 */
export function decideExpiry(control: ControlRow, isDue: boolean, action: ExpiryAction): ExpiryDecision {
  if (control.state === 'expired') {
    return {
      kind: 'resolve',
      command:
        action === 'resume'
          ? { command: 'resume' }
          : { command: 'terminate', reason: 'The pause expired and nobody resumed it.' },
    };
  }
  if (!isDue || !holdsMessages(control.state)) return { kind: 'none' };
  return {
    kind: 'expire',
    next: { ...control, state: 'expired', operator_id: SYSTEM_OPERATOR, asked_by: [] },
  };
}
