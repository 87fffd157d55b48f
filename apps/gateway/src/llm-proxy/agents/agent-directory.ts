/**
 * What operators have set for each agent, its policy and its kill switch, and for all of a tenant together (`allAgents`). In memory,
 * because every call asks; a change is durable before it is in force, except that a stop takes effect first and is written after, for an
 * agent can be stopped whatever the disk does. Changes of one agent are made one after another. A stop alone does not wait for its turn:
 * a change that is being written meanwhile finds, once written, that the agent was stopped, and leaves it so.
 */
import {
  type AgentKillSwitch,
  type AgentPolicy,
  type AgentPolicyPatch,
  type AgentScope,
  type AuditDraft,
  agentScope,
  allAgents,
  type Incident,
  isAllAgents,
  KILL_SWITCH_ACTOR,
  type KillSwitchPatch,
  type ProxyStore,
  splitAgentScope,
} from '#contracts';
import { applyPolicyPatch, defaultPolicy } from '#domain/policy';
import { ChangeQueue, type Clock, changesOf, type Timer } from '#kernel';
import type { Auditor, SettingsAudit } from '../../auth/settings-audit.js';
import { inForceUnsaved, storedInTime } from '../../stored-in-time.js';
import { hasBudget } from './agent-activity.js';
import { AgentKillSwitches } from './agent-kill-switches.js';
import { AgentPolicies } from './agent-policies.js';
import { isEmpty, requirePlace } from './agent-settings.js';
import { OpenIncidents } from './open-incidents.js';
import { PolicyWrites } from './policy-writes.js';

/** Agents that may have a policy of their own, and as many a kill switch; half of them of one tenant. */
const SETTINGS_COUNT_MAX = 100_000;
/** Of one agent, that the audit does not have yet: one that is stopped is given no further reason beyond them. */
export const UNTOLD_STOPS_MAX = 100;

export interface AgentDirectoryParts {
  store: Pick<ProxyStore, 'documents' | 'commitDocuments' | 'openIncidents'>;
  audit: SettingsAudit;
  clock: Clock;
  timer: Timer;
  /** Another policy is in force. Called in the turn of the change; must not throw. */
  onPolicy: (scope: AgentScope) => void;
  /** The kill switch stopped more of a tenant's agents than are told apart: see `AgentPolicies`. Must not throw. */
  onClosed: (tenantId: string) => void;
  /** A stop could not be written. It is in force, and is written as soon as the store takes it. */
  onUnsaved: (error: unknown) => void;
  /** `SETTINGS_COUNT_MAX` unless a spec needs few. */
  settingsCountMax?: number;
}

/** `stopped_again`: the kill switch fired, or an operator stopped it, after this one had asked; the agent is stopped. */
export type Reactivation = 'reactivated' | 'already_active' | 'stopped_again';

/** Without what lets it call, or stops it. */
type PolicyChange = Omit<AgentPolicyPatch, 'active'>;

export interface ReactivationParts {
  /** In force before it may call. */
  limits?: Omit<PolicyChange, 'reason'>;
  /** For the audit. */
  reason?: string | undefined;
  /** When the operator asked: now, unless given. */
  seen?: SeenAgent | undefined;
  /** Other limits are in force, and it may not call yet: waited for. Must not reject. */
  onLimits?: () => Promise<void>;
}

/** An agent as whoever lets it in has seen it: what stopped it since they cannot mean. */
export interface SeenAgent {
  active: boolean;
  /** Which stop was the last; undefined: none since the start. */
  stop: number | undefined;
}

interface WrittenChange {
  before: AgentPolicy;
  changed: Omit<PolicyChange, 'reason'>;
  reason: string | undefined;
  isLetIn: boolean;
}

/** What stops an agent: an incident, also one whose evidence lies at another gateway. */
export type KillStop = Pick<Incident, 'incident_id' | 'session_id' | 'at_ms' | 'threshold'> & {
  breakdown: Pick<Incident['breakdown'], 'score'>;
};

interface UnwrittenStop {
  policy: AgentPolicy;
  audit: AuditDraft;
  /** To the audit: where the agent was stopped already it is once somebody has let it in. */
  isNews: boolean;
  written?: Promise<void>;
}

const KILL_SWITCH: Auditor = { operator_id: KILL_SWITCH_ACTOR, role: 'system' };

export class AgentDirectory {
  readonly #parts: AgentDirectoryParts;
  readonly #policies: AgentPolicies;
  readonly #killSwitches: AgentKillSwitches;
  /** Of listed agents. */
  readonly #incidents = new OpenIncidents();
  readonly #changes = new ChangeQueue<AgentScope>();
  /** Of each listed agent, by the count of all stops; one that changes nothing is one, too, for whoever waits to let it in. */
  readonly #lastStops = new Map<AgentScope, number>();
  #stopCount = 0;
  /** Stops whose write is not over: what is written meanwhile does not undo them. */
  readonly #unwritten = new Map<AgentScope, UnwrittenStop>();
  readonly #writes: PolicyWrites;

  constructor(parts: AgentDirectoryParts) {
    this.#parts = parts;
    this.#writes = new PolicyWrites(parts);
    const { settingsCountMax: countMax = SETTINGS_COUNT_MAX, onClosed } = parts;
    this.#killSwitches = new AgentKillSwitches(parts, countMax);
    this.#policies = new AgentPolicies({
      countMax,
      onClosed,
      onUnlisted: (scope) => {
        this.#incidents.delete(scope);
        this.#lastStops.delete(scope);
      },
    });
  }

  /** Before the first call. Rejects as the store does. */
  async load(): Promise<void> {
    const { store } = this.#parts;
    for (const { tenant_id, id, body } of await store.documents('agent_policy'))
      this.#policies.set(agentScope(tenant_id, id), { ...defaultPolicy(id), ...(body as AgentPolicy) });
    await this.#killSwitches.load();
    for (const { tenant_id, incident } of await store.openIncidents()) {
      const scope = agentScope(tenant_id, incident.agent_id);
      // The gateway died between a firing and its deactivation's write.
      const policy = this.policy(scope);
      if (policy.active) {
        const stopped = deactivatedBy(policy, incident);
        this.#policies.set(scope, stopped);
        this.#writes.tell(scope, this.#stopDraft(scope, incident));
        this.#writeLater(scope, stopped);
      }
      this.#noteOpen(scope, { ...incident, session_id: null });
    }
  }

  /** Stops that the store has refused are tried again: of one at another gateway no incident is kept here. Never rejects. */
  async stop(): Promise<void> {
    await this.#changes.idle();
    await this.#writes.stop();
  }

  /** All stops that are in force; those that fired in a process that died, once this one has written them. */
  get isStored(): boolean {
    return this.#unwritten.size === 0 && this.#writes.unsavedCount === 0;
  }

  /** Hot path. */
  policy(scope: AgentScope): AgentPolicy {
    return this.restriction(scope) ?? defaultPolicy(splitAgentScope(scope).agentId);
  }

  /** Hot path; null for an agent without limits that may run: nothing to check. */
  restriction(scope: AgentScope): AgentPolicy | null {
    return this.#policies.restriction(scope);
  }

  /** Hot path; what holds besides for all of the tenant's agents together, and counts what they use as one. */
  restrictionOfAll(tenantId: string): AgentPolicy | null {
    return this.#policies.restrictionOfAll(tenantId);
  }

  /** Hot path. */
  killSwitch(scope: AgentScope): AgentKillSwitch {
    return this.#killSwitches.of(scope);
  }

  /** False: it is stopped, and a restart would forget it. `onPolicy` is called once that changes. */
  isStopStored(scope: AgentScope): boolean {
    return !this.#unwritten.has(scope) && !this.#writes.isUnsaved(scope);
  }

  openIncidentId(scope: AgentScope): string | null {
    return this.#incidents.idOf(scope);
  }

  seen(scope: AgentScope): SeenAgent {
    return { active: this.policy(scope).active, stop: this.#lastStops.get(scope) };
  }

  /**
   * The agent that the kill switch stopped is stopped there, too: in the session for which it was, or where the kill switch looks
   * at all of them together, or an operator meant all of them.
   */
  wasKilledIn(scope: AgentScope, sessionId: string | null): boolean {
    const killedIn = this.#incidents.sessionOf(scope);
    if (killedIn === undefined) return false;
    return killedIn === null || killedIn === sessionId || this.killSwitch(scope).scope === 'agent';
  }

  /** Of all tenants. */
  *withBudgets(): Generator<AgentScope> {
    for (const scope of this.#policies.scopes()) if (hasBudget(this.policy(scope))) yield scope;
  }

  /** It has settings of its own. */
  has(scope: AgentScope): boolean {
    return this.#policies.listed(scope) !== undefined || this.#killSwitches.has(scope);
  }

  /** Agents with settings of their own. */
  *known(tenantId: string): Generator<string> {
    const all = allAgents(tenantId);
    const scopes = new Set([...this.#policies.scopes(), ...this.#killSwitches.scopes()]);
    for (const scope of scopes) if (scope.startsWith(all) && scope !== all) yield scope.slice(all.length);
  }

  /** Rejects as the store does: then nothing has changed. Who may call is up to `deactivate` and `reactivate`. */
  patchPolicy(scope: AgentScope, { reason, ...given }: PolicyChange, by: Auditor): Promise<AgentPolicy> {
    return this.#changes.run(scope, async () => {
      const before = this.policy(scope);
      const changed = changesOf(given, before);
      if (isEmpty(changed)) return before;
      requirePlace(this.#policies.fits(scope));
      this.#putInForce(
        scope,
        await this.#writeChange(scope, by, { before, changed, reason, isLetIn: false }),
      );
      return this.policy(scope);
    });
  }

  /**
   * An operator's stop. Rejects as the store does, or where it takes its time, and says that it is in force all the same: it is
   * written as soon as the store takes it.
   * @param onInForce called the moment it is, which is at once unless the agent is stopped already
   * @returns false where it is stopped already, for this reason and in all its sessions: then nothing more is written
   */
  async deactivate(
    scope: AgentScope,
    reason: string | undefined,
    by: Auditor,
    onInForce = () => {},
  ): Promise<boolean> {
    const isNews = this.#isStop(scope, reason);
    const underWay = isNews ? undefined : this.#stopUnderWay(scope);
    if (underWay !== undefined) {
      this.#noteStop(scope);
      onInForce();
      await this.#inTime(underWay);
      return false;
    }
    requirePlace(this.#policies.fits(scope));
    const audit = this.#draft(scope, by, 'agent.deactivate', { reason });
    const before = this.policy(scope);
    const nowMs = this.#parts.clock.nowMs();
    // One that is no news may become so: somebody may be about to let the agent in.
    const policy = isNews
      ? applyPolicyPatch(before, { active: false, reason }, by.operator_id, nowMs)
      : { ...before };
    const stop: UnwrittenStop = { policy, audit, isNews };
    stop.written = this.#stopAtOnce(scope, stop, () => this.#incidents.widen(scope));
    onInForce();
    await this.#inTime(stop.written);
    return stop.isNews;
  }

  #inTime(written: Promise<void>): Promise<void> {
    return storedInTime(written, this.#parts.timer).catch(inForceUnsaved('stop'));
  }

  /** Of an agent that is stopped already, what there is to wait for; undefined: it has to be written anew. */
  #stopUnderWay(scope: AgentScope): Promise<void> | undefined {
    const isWritten = !this.#changes.isBusy(scope) && this.#writes.untoldCount(scope) === 0;
    return isWritten ? Promise.resolve() : this.#unwritten.get(scope)?.written;
  }

  /** Rejects as the store does: then nothing has changed. */
  patchKillSwitch(scope: AgentScope, patch: KillSwitchPatch, by: Auditor): Promise<AgentKillSwitch> {
    return this.#changes.run(scope, () => this.#killSwitches.patch(scope, patch, by));
  }

  /** In force at once: the agent's next call is refused whatever the disk does. False: it was deactivated already. */
  deactivateByKillSwitch(scope: AgentScope, incident: KillStop): boolean {
    const before = this.policy(scope);
    const policy = before.active ? deactivatedBy(before, incident) : { ...before };
    const stop: UnwrittenStop = { policy, audit: this.#stopDraft(scope, incident), isNews: before.active };
    stop.written = this.#stopAtOnce(scope, stop, () => this.#noteOpen(scope, incident));
    stop.written.catch(() => {});
    return before.active;
  }

  /**
   * Rejects as the store does, once it is to be written later.
   * @param noteIncident before anybody hears of the stop, for it says whom it ends
   */
  async #stopAtOnce(scope: AgentScope, stop: UnwrittenStop, noteIncident: () => void): Promise<void> {
    const { policy } = stop;
    this.#unwritten.set(scope, stop);
    if (stop.isNews) this.#writes.tell(scope, stop.audit);
    this.#policies.set(scope, policy);
    this.#noteStop(scope);
    noteIncident();
    this.#parts.onPolicy(scope);
    try {
      await this.#changes.run(scope, () => this.#writeStop(scope, policy));
    } catch (error) {
      const isKnown = this.#writes.isUnsaved(scope);
      this.#writeLater(scope, policy);
      if (!isKnown) this.#parts.onUnsaved(error);
      throw error;
    } finally {
      if (this.#unwritten.get(scope) === stop) this.#unwritten.delete(scope);
    }
  }

  /**
   * Lets it call again, with other limits where some are given, in one write. `already_active` also where another operator was
   * faster; limits are changed all the same, as they are where it is `stopped_again`. Rejects as the store does: then nothing has
   * changed.
   * @param onActive called the moment it may call again, before anything else can happen
   */
  reactivate(
    scope: AgentScope,
    by: Auditor,
    onActive: () => void,
    { limits = {}, reason, seen = this.seen(scope), onLimits }: ReactivationParts = {},
  ): Promise<Reactivation> {
    return this.#changes.run(scope, async () => {
      const before = this.policy(scope);
      const changed = changesOf(limits, before);
      const incidentId = this.openIncidentId(scope);
      // Stopped while this waited for its turn: the operator cannot have meant it.
      const isMeant = !seen.active && seen.stop === this.#lastStops.get(scope);
      const active = before.active || isMeant;
      if (isEmpty(changed) && active === before.active) return active ? 'already_active' : 'stopped_again';
      requirePlace(this.#policies.fits(scope));
      const isLetIn = active && !before.active;
      const after = await this.#writeChange(scope, by, { before, changed, reason, isLetIn });
      if (!isEmpty(changed)) {
        // Before it may call: never without them, nor without what was spent of a new budget.
        this.#putInForce(scope, stoppedAs(before, after));
        await onLimits?.();
      }
      if (isLetIn) this.#letIn(scope, after, incidentId, onActive);
      if (!this.policy(scope).active) return 'stopped_again';
      return isLetIn ? 'reactivated' : 'already_active';
    });
  }

  /** In one transaction, what is changed and that it may call again. @returns the policy as it is written */
  async #writeChange(
    scope: AgentScope,
    by: Auditor,
    { before, changed, reason, isLetIn }: WrittenChange,
  ): Promise<AgentPolicy> {
    const { tenantId, agentId } = splitAgentScope(scope);
    const at_ms = this.#parts.clock.nowMs();
    const patch = isLetIn ? { ...changed, active: true } : changed;
    const after = applyPolicyPatch(before, patch, by.operator_id, at_ms);
    const audit: AuditDraft[] = [];
    if (!isEmpty(changed)) audit.push(this.#draft(scope, by, 'agent.policy', { ...changed, reason }));
    if (isLetIn) audit.push(this.#draft(scope, by, 'agent.reactivate', { reason }));
    const reactivated = { tenant_id: tenantId, agent_id: agentId, by: by.operator_id, at_ms };
    await this.#writes.save(scope, after, isLetIn ? { audit, reactivated } : { audit });
    return after;
  }

  /** What is written already. @param incidentId that was open as it was written */
  #letIn(scope: AgentScope, after: AgentPolicy, incidentId: string | null, onActive: () => void): void {
    if (this.openIncidentId(scope) === incidentId) this.#incidents.delete(scope);
    const stop = this.#unwritten.get(scope);
    // The audit has the agent active from here: that it was stopped meanwhile is to stand behind it.
    if (stop !== undefined) {
      stop.isNews = true;
      this.#writes.tell(scope, stop.audit);
    }
    if (this.#putInForce(scope, after).active) onActive();
  }

  /**
   * The given policy, unless the agent was stopped since. The stop's own write is next in the queue.
   * @returns what is in force
   */
  #putInForce(scope: AgentScope, policy: AgentPolicy): AgentPolicy {
    const stop = this.#unwritten.get(scope);
    this.#policies.set(scope, stop === undefined ? policy : stoppedAs(stop.policy, policy));
    this.#parts.onPolicy(scope);
    return this.policy(scope);
  }

  /** It changes something: also of an agent that is stopped, whose stop it may widen, or give another reason. */
  #isStop(scope: AgentScope, reason: string | undefined): boolean {
    const listed = this.#policies.listed(scope);
    if (listed === undefined || listed.active) return true;
    const isOther = reason !== undefined && reason !== listed.deactivated_reason;
    if (isOther && this.#writes.untoldCount(scope) < UNTOLD_STOPS_MAX) return true;
    // An operator's stop would widen that of the kill switch.
    return (
      listed.deactivated_by === KILL_SWITCH_ACTOR && typeof this.#incidents.sessionOf(scope) === 'string'
    );
  }

  #noteStop(scope: AgentScope): void {
    this.#stopCount += 1;
    if (this.#policies.listed(scope) !== undefined) this.#lastStops.set(scope, this.#stopCount);
  }

  /** Of an agent that is not told apart none is kept in memory either. */
  #noteOpen(
    scope: AgentScope,
    incident: Pick<Incident, 'incident_id'> & { session_id: string | null },
  ): void {
    if (this.#policies.listed(scope) !== undefined) this.#incidents.note(scope, incident);
  }

  /** @param stopped where it is told apart no longer */
  async #writeStop(scope: AgentScope, stopped: AgentPolicy): Promise<void> {
    const policy = this.#policies.listed(scope) ?? stopped;
    await this.#writes.save(scope, policy);
    this.#putInForce(scope, policy);
  }

  #writeLater(scope: AgentScope, stopped: AgentPolicy): void {
    this.#writes.saveLater(scope, () =>
      this.#changes.run(scope, async () => {
        if (this.#writes.isUnsaved(scope)) await this.#writeStop(scope, stopped);
      }),
    );
  }

  #stopDraft(scope: AgentScope, { incident_id }: KillStop): AuditDraft {
    return this.#draft(scope, KILL_SWITCH, 'agent.deactivate', { incident_id });
  }

  #draft(scope: AgentScope, by: Auditor, action: string, detail: Record<string, unknown>): AuditDraft {
    const { tenantId, agentId } = splitAgentScope(scope);
    const whom = isAllAgents(scope) ? { all_agents: true } : { agent_id: agentId };
    return this.#parts.audit.draft(by, tenantId, action, { ...whom, ...detail });
  }
}

const stoppedAs = (
  { active, deactivated_by, deactivated_at_ms, deactivated_reason }: AgentPolicy,
  policy: AgentPolicy,
): AgentPolicy => ({ ...policy, active, deactivated_by, deactivated_at_ms, deactivated_reason });

const deactivatedBy = (policy: AgentPolicy, incident: KillStop): AgentPolicy => ({
  ...policy,
  active: false,
  deactivated_by: KILL_SWITCH_ACTOR,
  deactivated_at_ms: incident.at_ms,
  deactivated_reason: `score ${incident.breakdown.score} above ${incident.threshold}`,
});
