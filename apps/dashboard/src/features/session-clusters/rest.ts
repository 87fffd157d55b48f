/**
 * Why a session that has an alert burns no more, though it is not over. Pure. What cannot be told counts as burning.
 */
import {
  type AgentView,
  type AllAgentsPolicy,
  type CallDecision,
  isStoppedState,
  type SessionView,
} from '#contracts';
import { PAUSED, WAITING } from '../../ui/state-dot';
import { isKilled, isRefused } from '../agents/select-agents';
import { isUnheardPause, waitsForPerson } from '../hitl-console/control-texts';

/** `held`: an operator stopped it, and it listens. `agent_*`: its agent's calls are refused; `session_capped`: its own. `silent`: it has made no step for a while. */
export type Rest = 'held' | StoppedAgent | 'silent';
/** By the kill switch or an operator; with all the others; by a limit, which lets it call again in time; or by what the policy allows one session. */
export type StoppedAgent =
  | 'agent_killed'
  | 'agent_off'
  | 'all_stopped'
  | 'agent_over_budget'
  | 'agent_out_of_hours'
  | 'session_capped';

export const STOPPED_LABELS: Record<StoppedAgent, string> = {
  agent_killed: 'Agent killed',
  agent_off: 'Agent off',
  all_stopped: 'All stopped',
  agent_over_budget: 'Over budget',
  agent_out_of_hours: 'Out of hours',
  session_capped: 'Session capped',
};

/** What that means for the session, as one sentence. */
export const STOPPED_TEXTS: Record<StoppedAgent, string> = {
  agent_killed: 'Its agent is stopped: its calls are refused.',
  agent_off: 'Its agent is stopped: its calls are refused.',
  all_stopped: "All agents' calls are stopped, and its own with them.",
  agent_over_budget: 'Its agent was over its budget at its latest call, which was refused.',
  agent_out_of_hours: 'Its agent was outside its hours at its latest call, which was refused.',
  session_capped:
    'It has used up what the policy of its agent allows one session: its latest call was refused.',
};

/** What a loop is called that rests. */
export const LOOP_REST_LABELS: Record<Rest, string> = {
  held: 'Loop, held',
  agent_killed: 'Loop, agent killed',
  agent_off: 'Loop, agent off',
  all_stopped: 'Loop, all stopped',
  agent_over_budget: 'Loop, over budget',
  agent_out_of_hours: 'Loop, out of hours',
  session_capped: 'Loop, session capped',
  silent: 'Loop, silent',
};

export interface Policies {
  /** By id. */
  agents: ReadonlyMap<string, AgentView>;
  /** Of all of them together; null until it is known. */
  all: AllAgentsPolicy | null;
}

/** Until they are known. */
export const NO_POLICIES: Policies = { agents: new Map(), all: null };

/**
 * Null: it burns.
 *
 * @param session undefined when its alert arrived before its row
 * @param policies before they are known a session of a stopped agent burns until it is silent
 */
export function restOf(session: SessionView | undefined, policies: Policies): Rest | null {
  if (session === undefined) return null;
  if (isStoppedState(session.control.state) && !isUnheardPause(session.control)) return 'held';
  const stopped = stoppedAgent(session, policies);
  if (stopped !== null) return stopped;
  // The gateway says so, by its own clock.
  return session.severity === 'loop' && session.state === 'idle' ? 'silent' : null;
}

/** What stopped the agent of a session that is not over, whether it loops or not; null where nothing did. */
export const stoppedAgentOf = (session: SessionView, policies: Policies): StoppedAgent | null =>
  session.ended ? null : stoppedAgent(session, policies);

export const isStoppedAgent = (rest: Rest | null): rest is StoppedAgent =>
  rest !== null && rest in STOPPED_LABELS;

/** Somebody stopped it alone, and it will not go on by itself. */
export const isStoppedForGood = (rest: Rest | null): boolean =>
  rest === 'agent_killed' || rest === 'agent_off';

function stoppedAgent(session: SessionView, { agents, all }: Policies): StoppedAgent | null {
  const agent = agents.get(session.agent_id);
  if (agent && !agent.policy.active && hasHeard(session, agent.policy))
    return isKilled(agent) ? 'agent_killed' : 'agent_off';
  if (session.control.mode !== 'enforced') return null;
  if (all?.active === false) return 'all_stopped';
  return agent?.policy.active ? refusedFor(session, agent, all?.updated_at_ms ?? 0) : null;
}

/** A limit per minute is over in a moment, and does not count. */
const STOPPED_BY: Partial<Record<CallDecision, StoppedAgent>> = {
  over_budget: 'agent_over_budget',
  outside_hours: 'agent_out_of_hours',
  session_capped: 'session_capped',
};

/** @param allChangedMs as of `isRefused` */
function refusedFor(
  { refused_call }: SessionView,
  agent: AgentView,
  allChangedMs: number,
): StoppedAgent | null {
  // What was refused before the policy was changed says nothing of now.
  const changedMs = Math.max(agent.policy.updated_at_ms ?? 0, allChangedMs);
  const isOfNow = refused_call !== null && refused_call.at_ms >= changedMs;
  const own = isOfNow ? (STOPPED_BY[refused_call.decision] ?? null) : null;
  // Of the session alone, whatever other sessions of its agent do.
  if (own === 'session_capped') return own;
  const decision = isRefused(agent, allChangedMs) ? agent.latest_refusal?.decision : undefined;
  if (decision !== undefined && decision !== 'session_capped') return STOPPED_BY[decision] ?? null;
  // Since the gateway's start nobody heard of the agent: then what its session says still holds.
  return agent.last_call_ms === null ? own : null;
}

/** What an agent does by itself, which a loop in words or a pause outranks; a refused message and an end stay above. */
export const isOutranked = (state: string): boolean => ['active', 'idle', 'blocked'].includes(state);

/** What its dot shows: that somebody has it in hand, or stopped its agent, before how it is. A held loop is a loop at rest. */
export function dotState(state: string, rest: Rest | null, control: SessionView['control']): string {
  if (rest === null || !isOutranked(state)) return state;
  return rest === 'held' ? pauseState(control) : 'idle';
}

/** Of a session that is held. */
export const pauseState = (control: SessionView['control']): typeof PAUSED | typeof WAITING =>
  waitsForPerson(control) ? WAITING : PAUSED;

/** That its agent was stopped: one that also works without the proxy may go on, and its next step says so. */
const hasHeard = ({ control, last_seen_ms }: SessionView, policy: AgentView['policy']): boolean =>
  control.mode === 'enforced' || last_seen_ms <= (policy.deactivated_at_ms ?? 0);
