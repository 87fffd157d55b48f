/**
 * What operators command of agents, from wherever they do: each changes what is in force, then whatever follows from it. What was
 * commanded here the other gateways are told.
 */
import {
  type AgentAct,
  type AgentKillSwitch,
  type AgentPolicy,
  type AgentPolicyPatch,
  type AgentScope,
  agentScope,
  type Incident,
  KILL_SWITCH_ACTOR,
  KILL_SWITCH_PRESETS,
  type KillSwitchPatch,
  ObservatoryError,
  type TellGateways,
} from '#contracts';
import { ChangeQueue } from '#kernel';
import { type Auditor, requireInForce } from '../../auth/settings-audit.js';
import { hasNoRoomYet } from '../../has-no-room-yet.js';
import type { AgentBudgets } from './agent-budgets.js';
import type { AgentDirectory, Reactivation, SeenAgent } from './agent-directory.js';
import { isEmpty } from './agent-settings.js';
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

/** Every method rejects as the store does, and where whoever commands may no longer: then nothing has changed, but for a stop. */
export class AgentCommands {
  readonly #parts: AgentCommandsParts;
  /** Of each agent, so that they are told in the order in which they came into force. */
  readonly #turns = new ChangeQueue<AgentScope>();
  /** To be set where other gateways are to hear what is commanded here. */
  tell: TellGateways = () => {};

  constructor(parts: AgentCommandsParts) {
    this.#parts = parts;
  }

  /** All stops that are in force here, an operator's or the kill switch's. */
  get isStored(): boolean {
    return this.#parts.agents.isStored;
  }

  async patchPolicy(by: Commander, agentId: string, patch: AgentPolicyPatch): Promise<AgentPolicy> {
    const { agents } = this.#parts;
    const scope = agentScope(by.tenant_id, agentId);
    const others = besideStop(patch);
    // At once; what came with it takes its turn.
    if (others !== patch)
      await this.deactivate(by, agentId, patch.reason).catch((error) => {
        throw others === null ? error : withoutLimits(error);
      });
    if (others !== null) {
      const seen = agents.seen(scope);
      await this.#turn(by, scope, () => this.#patchPolicy(by, agentId, others, seen));
      await this.#onPatched(scope, others);
    }
    return agents.policy(scope);
  }

  async #patchPolicy(
    by: Commander,
    agentId: string,
    patch: AgentPolicyPatch,
    seen?: SeenAgent,
  ): Promise<void> {
    const { agents, incidents, budgets } = this.#parts;
    const scope = agentScope(by.tenant_id, agentId);
    const { active, reason, ...limits } = patch;
    if (active === true) {
      const onLimits = () => budgets.policyChanged(scope);
      await incidents.reactivate(by, agentId, { limits, reason, onLimits, seen });
    } else await agents.patchPolicy(scope, { ...limits, reason }, by);
    this.#done(by, { kind: 'policy', agent_id: agentId, patch: this.#inForce(scope, patch) });
  }

  /** One that lets it in has had its limits counted before that. */
  async #onPatched(scope: AgentScope, { active }: AgentPolicyPatch): Promise<void> {
    if (active !== true) await this.#parts.budgets.policyChanged(scope);
  }

  patchKillSwitch(by: Commander, agentId: string, patch: KillSwitchPatch): Promise<AgentKillSwitch> {
    return this.#turn(by, agentScope(by.tenant_id, agentId), () => this.#patchKillSwitch(by, agentId, patch));
  }

  async #patchKillSwitch(by: Commander, agentId: string, patch: KillSwitchPatch): Promise<AgentKillSwitch> {
    const changed = await this.#parts.agents.patchKillSwitch(agentScope(by.tenant_id, agentId), patch, by);
    const { preset, ...fields } = patch;
    // By the names of what it sets, so that it is seen to decide the same as who sets one of them elsewhere.
    const told = preset === undefined ? fields : { ...KILL_SWITCH_PRESETS[preset], ...fields };
    this.#done(by, { kind: 'kill_switch', agent_id: agentId, patch: told });
    return changed;
  }

  /**
   * Waits for no other command, and is in force also where the store refuses it: see `AgentDirectory.deactivate`.
   * @returns false where it is stopped already, for this reason and in all its sessions
   */
  async deactivate(by: Commander, agentId: string, reason: string | undefined): Promise<boolean> {
    requireInForce(by);
    return this.#stop(by, agentId, reason);
  }

  #stop(by: Commander, agentId: string, reason: string | undefined, onInForce = () => {}): Promise<boolean> {
    return this.#parts.agents.deactivate(agentScope(by.tenant_id, agentId), reason, by, () => {
      this.#done(by, { kind: 'policy', agent_id: agentId, patch: { active: false, reason } });
      onInForce();
    });
  }

  reactivate(by: Commander, agentId: string): Promise<Reactivation> {
    const { agents, incidents } = this.#parts;
    const scope = agentScope(by.tenant_id, agentId);
    const seen = agents.seen(scope);
    return this.#turn(by, scope, async () => {
      const outcome = await incidents.reactivate(by, agentId, { seen });
      this.#done(by, { kind: 'policy', agent_id: agentId, patch: this.#inForce(scope, { active: true }) });
      return outcome;
    });
  }

  /** The kill switch may have stopped it since: then it has the last word, and has told it. */
  #inForce(scope: AgentScope, { active, ...others }: AgentPolicyPatch): AgentPolicyPatch {
    const isUndone = active === true && !this.#parts.agents.policy(scope).active;
    return active === undefined || isUndone ? others : { ...others, active };
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

  /**
   * What happened at another gateway is in force here, too. A stop is so at once, and is not waited for: the directory writes it.
   * @param left of its word when its turn has come: what was commanded here meanwhile stands behind it in the log
   */
  async hear(by: Commander, agentId: string, left: () => AgentAct | null): Promise<void> {
    const scope = agentScope(by.tenant_id, agentId);
    const act = left();
    const stop = this.#hearStop(by, scope, act);
    if (stop !== null) await stop;
    if (withoutStop(act) === null) return;
    const done = await this.#turns.run(scope, async () => {
      const meant = withoutStop(left());
      if (meant?.kind === 'policy') await this.#patchPolicy(by, agentId, meant.patch);
      else if (meant?.kind === 'kill_switch') await this.#patchKillSwitch(by, agentId, meant.patch);
      return meant;
    });
    if (done?.kind === 'policy') await this.#onPatched(scope, done.patch);
  }

  /** @returns null where it is none; resolves once it is in force */
  #hearStop(by: Commander, scope: AgentScope, act: AgentAct | null): Promise<void> | null {
    if (act?.kind === 'killed') {
      // Told, and its evidence kept, where it fired.
      this.#parts.agents.deactivateByKillSwitch(scope, act.incident);
      this.#parts.views.touch(by.tenant_id, act.agent_id);
      return Promise.resolve();
    }
    if (act?.kind !== 'policy' || act.patch.active !== false) return null;
    const { agent_id, patch } = act;
    return new Promise((inForce, refused) => {
      this.#stop(by, agent_id, patch.reason, inForce).catch(refused);
    });
  }

  /** What changes nothing here has no line in the audit, and is told to the others all the same: who may no longer is refused first. */
  #turn<Outcome>(by: Commander, scope: AgentScope, command: () => Promise<Outcome>): Promise<Outcome> {
    return this.#turns.run(scope, async () => {
      requireInForce(by);
      return command();
    });
  }

  #done({ tenant_id, operator_id, role, gateway_id }: Commander, act: AgentAct): void {
    this.#parts.views.touch(tenant_id, act.agent_id);
    if (gateway_id === undefined) this.tell({ tenant_id, operator_id, role, act });
  }
}

/** What is left of a change once the agent is stopped, as it says: nothing, or limits. Itself where it stops nobody. */
function besideStop(patch: AgentPolicyPatch): AgentPolicyPatch | null {
  const { active, ...others } = patch;
  if (active !== false) return patch;
  const { reason: _, ...limits } = others;
  return isEmpty(limits) ? null : others;
}

/** The same of what another gateway tells. */
function withoutStop(act: AgentAct | null): Exclude<AgentAct, { kind: 'killed' }> | null {
  if (act === null || act.kind === 'killed') return null;
  if (act.kind !== 'policy') return act;
  const patch = besideStop(act.patch);
  return patch && { ...act, patch };
}

/** Of a stop that came with limits and could not be stored: they wait until whoever asked for them does so again. */
const withoutLimits = (error: unknown): unknown =>
  hasNoRoomYet(error)
    ? new ObservatoryError(error.code, `${error.detail} Its limits are as they were.`, error.extra)
    : error;
