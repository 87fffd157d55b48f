/** What a session's control state and mode mean, in the words an operator reads. Honest about what a pause does. */
import {
  type ControlMode,
  type ControlState,
  type ControlView,
  type ExpiryAction,
  isStoppedState,
  PROXY_SOURCE,
  type SessionView,
  SYSTEM_OPERATOR,
} from '#contracts';
import { MINUTE_MS } from '#kernel/duration';

export const MODE_LABELS: Record<ControlMode, string> = {
  enforced: 'Enforced',
  cooperative: 'Cooperative',
  observe_only: 'Observe only',
};

export const MODE_TEXTS: Record<ControlMode, string> = {
  enforced: 'Its LLM calls go through the proxy: a pause holds them, a termination refuses them.',
  cooperative: 'Its client listens for control: it stops when it next asks.',
  observe_only:
    'This agent does not listen for control yet: its messages will be held, but it may keep running.',
};

/** What a termination does. */
export const TERMINATE_TEXTS: Record<ControlMode, string> = {
  enforced: 'Its LLM calls will be refused.',
  cooperative: 'The agent is told to stop; its further messages are not held.',
  observe_only:
    'The agent is told to stop, but it never asked for control and may keep running. Its further messages are not held.',
};

export const STATE_LABELS: Record<ControlState, string> = {
  active: 'Running',
  pause_requested: 'Pausing',
  paused: 'Paused',
  expired: 'Pause expired',
  terminated: 'Terminated',
};

/** What is true right now, as one sentence. */
export function stateText({ state, mode, held_count }: ControlView): string {
  switch (state) {
    case 'active':
      return 'Running. Nothing is held.';
    case 'pause_requested':
      return mode === 'observe_only'
        ? 'Its messages are held. The agent has not acknowledged and may keep running.'
        : 'Its messages are held. Waiting for the agent to acknowledge.';
    case 'paused':
      return held_count > 0
        ? 'The agent has stopped. Held messages go out in order on resume.'
        : 'The agent has stopped and waits for you.';
    case 'expired':
      return 'The pause ran out; the expiry policy is being applied.';
    case 'terminated':
      return 'Ended for good. This cannot be undone.';
  }
}

interface Standing {
  /** Its agent said that it is over. */
  ended: boolean;
  /** What is true while its agent is stopped; null while it is not. */
  stoppedText: string | null;
}

/** The same of a session that nobody holds, too: it need not run. */
export function standingText(control: ControlView, { ended, stoppedText }: Standing): string {
  if (control.state !== 'active') return stateText(control);
  if (ended) return 'It is over: its agent said so. Nothing is held.';
  return stoppedText ?? stateText(control);
}

const EXPIRY_TEXTS: Record<ExpiryAction, string> = {
  resume: 'the session goes on',
  terminate: 'the session is terminated',
};

/** What happens if nobody acts; without an action, only when: to the minute, and to the second in the last. */
export function expiryText(leftMs: number, action?: ExpiryAction): string {
  const left =
    leftMs > MINUTE_MS
      ? `${Math.ceil(leftMs / MINUTE_MS)} min`
      : `${Math.max(0, Math.ceil(leftMs / 1_000))} s`;
  return action === undefined
    ? `The pause expires in ${left} unless you act.`
    : `Unless you act, the pause expires in ${left} and ${EXPIRY_TEXTS[action]}.`;
}

/** A termination has a reason; of one that was given none, its agent reads this. */
export const TERMINATED_WITHOUT_REASON = 'Terminated by an operator';

/** Null: it says no more than who did what. */
const REASON_TEXTS: Readonly<Record<string, string | null>> = {
  hitl_required: 'the agent asks for a person',
  [TERMINATED_WITHOUT_REASON]: null,
};

/** Why it was stopped, as whoever did it wrote it; what the gateway writes as a code, in words. Null where nobody said. */
export const reasonText = (reason: string | null): string | null =>
  reason !== null && Object.hasOwn(REASON_TEXTS, reason) ? (REASON_TEXTS[reason] ?? null) : reason;

/** Who asks for a person in a pause that was made for something else; null where nobody does, or the reason says so. */
export function askText({ reason, asked_by }: Pick<ControlView, 'reason' | 'asked_by'>): string | null {
  if (reason === 'hitl_required' || asked_by.length === 0) return null;
  return asked_by.length === 1
    ? `${asked_by[0]} asks for a person`
    : `${asked_by.length} agents ask for a person`;
}

/** Its agent said so, or somebody ended it: nobody reads what is sent to it. */
export const isOver = ({ ended, control }: Pick<SessionView, 'ended' | 'control'>): boolean =>
  ended || control.state === 'terminated';

/** Paused, but nothing proves that its agent heard of it: an acknowledgement would have made it cooperative. */
export const isUnheardPause = ({ state, mode }: Pick<ControlView, 'state' | 'mode'>): boolean =>
  mode === 'observe_only' && isStoppedState(state);

/**
 * It waits until somebody decides: its agent asked for a person, whoever paused it, or its policy paused it and no operator.
 * The one definition for every page. Of a pause that ran out the gateway disposes.
 */
export const waitsForPerson = ({
  state,
  operator_id,
  asked_by,
}: Pick<ControlView, 'state' | 'operator_id' | 'asked_by'>): boolean =>
  (state === 'pause_requested' || state === 'paused') &&
  (operator_id === SYSTEM_OPERATOR || asked_by.length > 0);

/** Why a held step cannot be rewritten, of whatever source; null where it can. Of a proxied call it is what came of the call. */
export const rewriteDenial = (sourceApp: string | null | undefined): string | null =>
  sourceApp === PROXY_SOURCE
    ? 'Its call was answered before: a rewrite would reach nobody. Inject guidance instead.'
    : null;
