/**
 * What operators have set for each agent: its policy and its kill switch. In memory whole, because every call asks;
 * a change is durable before it is in force, except that the kill switch takes effect first and is written after.
 * Changes of one agent are made one after another. The kill switch alone does not wait for its turn: a change that is
 * being written while it fires finds, once written, that the agent was stopped meanwhile, and leaves it so.
 */
import {
  type AgentPolicy,
  type AgentPolicyPatch,
  type AgentScope,
  agentScope,
  type Incident,
  KILL_SWITCH_ACTOR,
  KILL_SWITCH_DEFAULTS,
  type KillSwitchPatch,
  type KillSwitchSettings,
  ObservatoryError,
  type OperatorPrincipal,
  type ProxyStore,
  splitAgentScope,
} from '#contracts';
import { applyKillSwitchPatch } from '#domain/kill-switch';
import { applyPolicyPatch, defaultPolicy } from '#domain/policy';
import { ChangeQueue, type Clock } from '#kernel';
import type { Auditor, SettingsAudit } from '../auth/settings-audit.js';
import { FairShare } from './fair-share.js';

/** Agents that may have a policy of their own, and as many a kill switch; half of them of one tenant. */
const SETTINGS_COUNT_MAX = 100_000;

export interface AgentDirectoryParts {
  store: Pick<ProxyStore, 'documents' | 'saveDocument' | 'openIncidents' | 'closeIncidents'>;
  audit: SettingsAudit;
  clock: Clock;
  /** Another policy is in force. Called in the turn of the change; must not throw. */
  onPolicy: (scope: AgentScope) => void;
  /** The kill switch's deactivation could not be written; it is in force until the next start. */
  onUnsaved: (error: unknown) => void;
  /** `SETTINGS_COUNT_MAX` unless a spec needs few. */
  settingsCountMax?: number;
}

/** `stopped_again`: the kill switch fired after the operator had asked; the agent is stopped. */
export type Reactivation = 'reactivated' | 'already_active' | 'stopped_again';

/** As the store names them. */
type SettingsKind = 'agent_policy' | 'kill_switch';

const KILL_SWITCH: Auditor = { operator_id: KILL_SWITCH_ACTOR, role: 'system' };

export class AgentDirectory {
  readonly #parts: AgentDirectoryParts;
  readonly #policies = new Map<AgentScope, AgentPolicy>();
  readonly #killSwitches = new Map<AgentScope, KillSwitchSettings>();
  /** Latest incident per agent that nobody has reactivated. */
  readonly #openIncidents = new Map<AgentScope, string>();
  readonly #changes = new ChangeQueue<AgentScope>();
  /** Places of `#policies` and of `#killSwitches`. An agent that was killed has one whether there is room or not. */
  readonly #places: Record<SettingsKind, FairShare>;

  constructor(parts: AgentDirectoryParts) {
    this.#parts = parts;
    const places = { max: parts.settingsCountMax ?? SETTINGS_COUNT_MAX, onFull: () => {} };
    this.#places = { agent_policy: new FairShare(places), kill_switch: new FairShare(places) };
  }

  /** Before the first call. Rejects as the store does. */
  async load(): Promise<void> {
    const { store } = this.#parts;
    for (const { tenant_id, id, body } of await store.documents('agent_policy'))
      this.#setPolicy(agentScope(tenant_id, id), { ...defaultPolicy(id), ...(body as AgentPolicy) });
    for (const { tenant_id, id, body } of await store.documents('kill_switch'))
      this.#setKillSwitch(agentScope(tenant_id, id), {
        ...KILL_SWITCH_DEFAULTS,
        ...(body as KillSwitchSettings),
      });
    for (const { tenant_id, incident } of await store.openIncidents()) {
      const scope = agentScope(tenant_id, incident.agent_id);
      this.#openIncidents.set(scope, incident.incident_id);
      // The gateway died between a firing and its deactivation's write.
      const policy = this.policy(scope);
      if (policy.active) this.#setPolicy(scope, deactivatedBy(policy, incident));
    }
  }

  /** Hot path. */
  policy(scope: AgentScope): AgentPolicy {
    return this.#policies.get(scope) ?? defaultPolicy(splitAgentScope(scope).agentId);
  }

  /** Hot path; null for an agent without limits that may run: nothing to check. */
  restriction(scope: AgentScope): AgentPolicy | null {
    return this.#policies.get(scope) ?? null;
  }

  /** Hot path. */
  killSwitch(scope: AgentScope): KillSwitchSettings {
    return this.#killSwitches.get(scope) ?? KILL_SWITCH_DEFAULTS;
  }

  openIncidentId(scope: AgentScope): string | null {
    return this.#openIncidents.get(scope) ?? null;
  }

  /** Agents with settings of their own. */
  *known(tenantId: string): Generator<string> {
    const seen = new Set<string>();
    for (const scope of [...this.#policies.keys(), ...this.#killSwitches.keys()]) {
      const { tenantId: owner, agentId } = splitAgentScope(scope);
      if (owner === tenantId && !seen.has(agentId)) {
        seen.add(agentId);
        yield agentId;
      }
    }
  }

  /** Rejects as the store does: then nothing has changed. To let an agent call again there is `reactivate`. */
  patchPolicy(
    scope: AgentScope,
    patch: Omit<AgentPolicyPatch, 'active'> & { active?: false },
    by: OperatorPrincipal,
  ): Promise<AgentPolicy> {
    return this.#changes.run(scope, async () => {
      const before = this.policy(scope);
      const after = applyPolicyPatch(before, patch, by.operator_id, this.#parts.clock.nowMs());
      const saved = await this.#savePolicy(scope, after);
      await this.#audit(scope, by, 'agent.policy', { ...patch });
      return saved;
    });
  }

  /** Rejects as the store does: then nothing has changed. */
  patchKillSwitch(
    scope: AgentScope,
    patch: KillSwitchPatch,
    by: OperatorPrincipal,
  ): Promise<KillSwitchSettings> {
    return this.#changes.run(scope, async () => {
      const after = applyKillSwitchPatch(this.killSwitch(scope), patch);
      await this.#save(scope, 'kill_switch', after);
      this.#setKillSwitch(scope, after);
      await this.#audit(scope, by, 'agent.kill_switch', { ...patch });
      return after;
    });
  }

  /** In force at once: the agent's next call is refused whatever the disk does. False: it was deactivated already. */
  deactivateByKillSwitch(scope: AgentScope, incident: Incident): boolean {
    const before = this.policy(scope);
    this.#openIncidents.set(scope, incident.incident_id);
    // A copy where it is stopped already: a reactivation that is being written sees that something came between.
    this.#enforce(scope, before.active ? deactivatedBy(before, incident) : { ...before });
    this.#changes
      .run(scope, async () => {
        await this.#savePolicy(scope, this.policy(scope));
        if (before.active)
          await this.#audit(scope, KILL_SWITCH, 'agent.deactivate', { incident_id: incident.incident_id });
      })
      .catch(this.#parts.onUnsaved);
    return before.active;
  }

  /**
   * `already_active` also where another operator was faster. Rejects as the store does: it stays deactivated.
   * @param onActive called the moment it may call again, before anything else can happen
   */
  reactivate(scope: AgentScope, by: OperatorPrincipal, onActive: () => void): Promise<Reactivation> {
    const { store, clock } = this.#parts;
    const { tenantId, agentId } = splitAgentScope(scope);
    const asked = this.#openIncidents.get(scope);
    return this.#changes.run(scope, async () => {
      const before = this.policy(scope);
      if (before.active) return 'already_active';
      const incidentId = this.#openIncidents.get(scope);
      // Fired while this waited for its turn: the operator cannot have meant it.
      if (incidentId !== undefined && incidentId !== asked) return 'stopped_again';
      const nowMs = clock.nowMs();
      await store.closeIncidents(tenantId, agentId, by.operator_id, nowMs);
      if (this.#openIncidents.get(scope) === incidentId) this.#openIncidents.delete(scope);
      const after = applyPolicyPatch(before, { active: true }, by.operator_id, nowMs);
      await this.#save(scope, 'agent_policy', after);
      if (this.#putInForce(scope, after, before).active) {
        onActive();
        await this.#audit(scope, by, 'agent.reactivate', {});
      } else {
        const stopped = { outcome: 'stopped_again', incident_id: this.#openIncidents.get(scope) };
        await this.#audit(scope, by, 'agent.reactivate', stopped);
      }
      return this.policy(scope).active ? 'reactivated' : 'stopped_again';
    });
  }

  async #savePolicy(scope: AgentScope, policy: AgentPolicy): Promise<AgentPolicy> {
    const before = this.#policies.get(scope);
    await this.#save(scope, 'agent_policy', policy);
    return this.#putInForce(scope, policy, before);
  }

  /**
   * The given policy, unless the kill switch fired since. Its own write is next in the queue.
   * @param before what was in force when the change began
   * @returns what is in force
   */
  #putInForce(scope: AgentScope, policy: AgentPolicy, before: AgentPolicy | undefined): AgentPolicy {
    const now = this.#policies.get(scope);
    const inForce = now === undefined || now === before ? policy : stoppedAs(now, policy);
    this.#enforce(scope, inForce);
    return inForce;
  }

  #enforce(scope: AgentScope, policy: AgentPolicy): void {
    this.#setPolicy(scope, policy);
    this.#parts.onPolicy(scope);
  }

  async #save(scope: AgentScope, kind: SettingsKind, body: object): Promise<void> {
    const settings = kind === 'agent_policy' ? this.#policies : this.#killSwitches;
    const { tenantId, agentId } = splitAgentScope(scope);
    if (!settings.has(scope) && !this.#places[kind].fits(tenantId, 1))
      throw new ObservatoryError('invalid_request', 'Too many agents have settings of their own.');
    const { store, clock } = this.#parts;
    await store.saveDocument({
      tenant_id: tenantId,
      kind,
      id: agentId,
      body,
      updated_at_ms: clock.nowMs(),
    });
  }

  #setPolicy(scope: AgentScope, policy: AgentPolicy): void {
    if (!this.#policies.has(scope)) this.#places.agent_policy.take(splitAgentScope(scope).tenantId, 1);
    this.#policies.set(scope, policy);
  }

  #setKillSwitch(scope: AgentScope, settings: KillSwitchSettings): void {
    if (!this.#killSwitches.has(scope)) this.#places.kill_switch.take(splitAgentScope(scope).tenantId, 1);
    this.#killSwitches.set(scope, settings);
  }

  async #audit(
    scope: AgentScope,
    by: Auditor,
    action: string,
    detail: Record<string, unknown>,
  ): Promise<void> {
    const { tenantId, agentId } = splitAgentScope(scope);
    await this.#parts.audit.record(by, tenantId, action, { agent_id: agentId, ...detail });
  }
}

const stoppedAs = (
  { active, deactivated_by, deactivated_at_ms, deactivated_reason }: AgentPolicy,
  policy: AgentPolicy,
): AgentPolicy => ({ ...policy, active, deactivated_by, deactivated_at_ms, deactivated_reason });

const deactivatedBy = (policy: AgentPolicy, incident: Incident): AgentPolicy => ({
  ...policy,
  active: false,
  deactivated_by: KILL_SWITCH_ACTOR,
  deactivated_at_ms: incident.at_ms,
  deactivated_reason: `score ${incident.breakdown.score} above ${incident.threshold}`,
});
