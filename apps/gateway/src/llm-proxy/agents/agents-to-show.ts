/** Which agents a list shows that has not room for all. Pure. */

/** What is quickly known of one: whole views of tens of thousands take half a second. */
export interface AgentInBrief {
  agent_id: string;
  /** The kill switch stopped it and nobody let it go on, or calls of it hang. */
  waits: boolean;
  isActive: boolean;
  /** Its latest call was refused, or it is near a limit. */
  isWarned: boolean;
  /** Null: none yet. */
  lastCallMs: number | null;
}

/** Of a budget or of the kill switch's threshold: an operator should look before it is all of it. */
const NEAR_AT = 0.8;

export const isNear = (value: number, limit: number): boolean => value >= limit * NEAR_AT;

const rankOf = ({ waits, isActive, isWarned }: AgentInBrief): number => {
  if (waits) return 0;
  if (!isActive) return 2;
  return isWarned ? 1 : 3;
};

/** The least has room first. Two ranks lie further apart than any two times. */
const placeOf = (agent: AgentInBrief): number => rankOf(agent) * 2 ** 50 - (agent.lastCallMs ?? 0);

/** Their ids, by id. What wants somebody has room before the rest, and then who called last. Numbers alone are sorted: that is quick. */
export function agentsToShow(agents: readonly AgentInBrief[], countMax: number): string[] {
  const places = Float64Array.from(agents, placeOf);
  const last = places.toSorted()[countMax - 1] ?? Number.POSITIVE_INFINITY;
  const before = agents.filter((_, at) => (places[at] as number) < last);
  const equal = agents.filter((_, at) => places[at] === last);
  return [...before, ...equal]
    .slice(0, countMax)
    .map(({ agent_id }) => agent_id)
    .sort();
}
