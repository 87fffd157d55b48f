/**
 * Why a session that has an alert burns no more, though it is not over. Pure. What cannot be told counts as burning.
 */
import { type AgentView, KILL_SWITCH_ACTOR, type SessionView } from '#contracts';
import { PAUSED, WAITING } from '../../ui/state-dot';
import { isStoppedState, isUnheardPause, waitsForPerson } from '../hitl-console/control-texts';

/** `held`: an operator stopped it, and it listens. `agent_*`: its agent's calls are refused. `silent`: it has made no step for a while. */
export type Rest = 'held' | StoppedAgent | 'silent';
export type StoppedAgent = 'agent_killed' | 'agent_off';

export const STOPPED_LABELS: Record<StoppedAgent, string> = {
  agent_killed: 'Agent killed',
  agent_off: 'Agent off',
};

/** What a loop is called that rests. */
export const LOOP_REST_LABELS: Record<Rest, string> = {
  held: 'Loop, held',
  agent_killed: 'Loop, agent killed',
  agent_off: 'Loop, agent off',
  silent: 'Loop, silent',
};

export type Policies = ReadonlyMap<string, Pick<AgentView, 'policy'>>;

/** Until they are known. */
export const NO_POLICIES: Policies = new Map();

/**
 * Null: it burns.
 *
 * @param session undefined when its alert arrived before its row
 * @param agents by id; without them a session of a stopped agent burns until it is silent
 */
export function restOf(session: SessionView | undefined, agents: Policies = NO_POLICIES): Rest | null {
  if (session === undefined) return null;
  if (isStoppedState(session.control.state) && !isUnheardPause(session.control)) return 'held';
  const stopped = stoppedAgent(session, agents);
  if (stopped !== null) return stopped;
  // The gateway says so, by its own clock.
  return session.severity === 'loop' && session.state === 'idle' ? 'silent' : null;
}

/** Who stopped the agent of a session that is not over, whether it loops or not; null where nobody did. */
export const stoppedAgentOf = (session: SessionView, agents: Policies): StoppedAgent | null =>
  session.ended ? null : stoppedAgent(session, agents);

function stoppedAgent(session: SessionView, agents: Policies): StoppedAgent | null {
  const policy = agents.get(session.agent_id)?.policy;
  if (!policy || !isRefused(session, policy)) return null;
  return policy.deactivated_by === KILL_SWITCH_ACTOR ? 'agent_killed' : 'agent_off';
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

/** An agent that also works without the proxy may go on although its calls are refused: its next step says so. */
const isRefused = ({ control, last_seen_ms }: SessionView, policy: AgentView['policy']): boolean =>
  !policy.active && (control.mode === 'enforced' || last_seen_ms <= (policy.deactivated_at_ms ?? 0));
