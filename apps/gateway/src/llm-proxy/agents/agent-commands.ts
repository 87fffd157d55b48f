/**
 * What operators command of agents, from wherever they do: each changes what is in force, then whatever follows from it. What was
 * commanded here the other gateways are told.
 */
import {
  type AgentAct,
  type AgentKillSwitch,
  type AgentPolicy,
  type AgentPolicyPatch,
  agentScope,
  type Incident,
  KILL_SWITCH_ACTOR,
  type KillSwitchPatch,
  type TellGateways,
} from '#contracts';
import type { Auditor } from '../../auth/settings-audit.js';
import type { AgentBudgets } from './agent-budgets.js';
import type { AgentDirectory, Reactivation } from './agent-directory.js';
import type { AgentViews } from './agent-views.js';
import type { IncidentDesk } from './incident-desk.js';

export interface AgentCommandsParts {
  agents: AgentDirectory;
  incidents: Pick<IncidentDesk, 'reactivate'>;
  budgets: Pick<AgentBudgets, 'policyChanged'>;
  views: Pick<AgentViews, 'touch'>;
}

/** Who commands, in which tenant. */
export type Commander = Auditor & { tenant_id: string };

/** Every method rejects as the store does: then nothing has changed. */
export class AgentCommands {
  readonly #parts: AgentCommandsParts;
  /** To be set where other gateways are to hear what is commanded here. */
  tell: TellGateways = () => {};

  constructor(parts: AgentCommandsParts) {
    this.#parts = parts;
  }

  async patchPolicy(by: Commander, agentId: string, patch: AgentPolicyPatch): Promise<AgentPolicy> {
    const { agents, incidents, budgets } = this.#parts;
    const scope = agentScope(by.tenant_id, agentId);
    const { active, reason, ...limits } = patch;
    const onLimits = () => budgets.policyChanged(scope);
    let told = patch;
    if (active === true) {
      const outcome = await incidents.reactivate(by, agentId, { limits, reason, onLimits });
      // The kill switch has the last word, and has told it.
      if (outcome === 'stopped_again') told = { ...limits, reason };
    } else {
      await agents.patchPolicy(scope, { ...limits, active, reason }, by);
      await onLimits();
    }
    this.#done(by, { kind: 'policy', agent_id: agentId, patch: told });
    return agents.policy(scope);
  }

  async patchKillSwitch(by: Commander, agentId: string, patch: KillSwitchPatch): Promise<AgentKillSwitch> {
    const changed = await this.#parts.agents.patchKillSwitch(agentScope(by.tenant_id, agentId), patch, by);
    this.#done(by, { kind: 'kill_switch', agent_id: agentId, patch });
    return changed;
  }

  /** @returns false where it is stopped already, for this reason and in all its sessions */
  async deactivate(by: Commander, agentId: string, reason: string): Promise<boolean> {
    const isNews = await this.#parts.agents.deactivate(agentScope(by.tenant_id, agentId), reason, by);
    this.#done(by, { kind: 'policy', agent_id: agentId, patch: { active: false, reason } });
    return isNews;
  }

  async reactivate(by: Commander, agentId: string): Promise<Reactivation> {
    const outcome = await this.#parts.incidents.reactivate(by, agentId);
    const patch = outcome === 'stopped_again' ? {} : { active: true };
    this.#done(by, { kind: 'policy', agent_id: agentId, patch });
    return outcome;
  }

  /** The kill switch fired here. Never throws. */
  noteKilled(
    tenantId: string,
    { incident_id, session_id, at_ms, threshold, breakdown: { score }, agent_id }: Incident,
  ): void {
    const incident = { incident_id, session_id, at_ms, threshold, breakdown: { score } };
    const by = { tenant_id: tenantId, operator_id: KILL_SWITCH_ACTOR, role: 'system' } as const;
    this.tell({ ...by, act: { kind: 'killed', agent_id, incident } });
  }

  /** What happened at another gateway is in force here, too. */
  async hear(by: Commander, act: AgentAct): Promise<void> {
    const { agent_id: agentId } = act;
    if (act.kind === 'policy') await this.patchPolicy(by, agentId, act.patch);
    else if (act.kind === 'kill_switch') await this.patchKillSwitch(by, agentId, act.patch);
    else {
      // Told, and its evidence kept, where it fired.
      this.#parts.agents.deactivateByKillSwitch(agentScope(by.tenant_id, agentId), act.incident);
      this.#parts.views.touch(by.tenant_id, agentId);
    }
  }

  #done({ tenant_id, operator_id, role, gateway_id }: Commander, act: AgentAct): void {
    this.#parts.views.touch(tenant_id, act.agent_id);
    if (gateway_id === undefined) this.tell({ tenant_id, operator_id, role, act });
  }
}
