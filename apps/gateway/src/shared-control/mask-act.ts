/**
 * Two operators at two gateways at once: every gateway must end with what stands last in the log. A gateway has obeyed its own
 * words before they are in the log, so a word of another that comes before them there came too late: what both decide is left
 * as it is.
 */
import { type ControlAct, type ControlWord, sessionKey } from '#contracts';

/** What a word decides, by names that are equal for words that decide the same. */
export function decidedBy({ tenant_id, act }: ControlWord): string[] {
  switch (act.kind) {
    case 'command':
      return act.command.command === 'inject' ? [] : [sessionKey(tenant_id, act.session_id)];
    case 'acknowledged':
    case 'guided':
      return [];
    case 'killed':
      return [agentField(tenant_id, act.agent_id, 'active')];
    case 'policy':
    case 'kill_switch':
      return fieldsOf(act.patch).map((field) => agentField(tenant_id, act.agent_id, field));
  }
}

/**
 * @param decided by own words that are on their way to the log, or behind this one in it
 * @returns what is left to obey; null: nothing
 */
export function maskAct(word: ControlWord, decided: ReadonlySet<string>): ControlAct | null {
  const { tenant_id, act } = word;
  // Nothing undoes it, so its place in the order is of no matter.
  if (act.kind === 'command' && act.command.command === 'terminate') return act;
  if (act.kind === 'policy' || act.kind === 'kill_switch') {
    const patch: Record<string, unknown> = { ...act.patch };
    for (const field of fieldsOf(act.patch))
      if (decided.has(agentField(tenant_id, act.agent_id, field))) delete patch[field];
    return fieldsOf(patch).length === 0 ? null : ({ ...act, patch } as ControlAct);
  }
  return decidedBy(word).some((name) => decided.has(name)) ? null : act;
}

/** What of a word stops an agent; null: nothing does. */
export function stopOf(word: ControlWord): ControlWord | null {
  const { act } = word;
  if (act.kind === 'killed') return word;
  if (act.kind !== 'policy' || act.patch.active !== false) return null;
  const { active, reason } = act.patch;
  return { ...word, act: { ...act, patch: reason === undefined ? { active } : { active, reason } } };
}

/** A reason decides nothing. */
const fieldsOf = (patch: object): string[] => Object.keys(patch).filter((field) => field !== 'reason');

const agentField = (tenantId: string, agentId: string, field: string): string =>
  JSON.stringify([tenantId, agentId, field]);
