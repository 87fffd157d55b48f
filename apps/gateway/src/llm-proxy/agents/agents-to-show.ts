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

/** Their ids, by id. What wants somebody has room before the rest, and then who called last. */
export function agentsToShow(agents: readonly AgentInBrief[], countMax: number): string[] {
  return [...agents]
    .sort((a, b) => rankOf(a) - rankOf(b) || (b.lastCallMs ?? 0) - (a.lastCallMs ?? 0))
    .slice(0, countMax)
    .map(({ agent_id }) => agent_id)
    .sort();
}
