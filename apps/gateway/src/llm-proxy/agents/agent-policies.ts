/**
 * The policies in force, in bounded memory. What operators set and what the kill switch stopped have places of their own,
 * and a stop is never forgotten: where a tenant has no place for one more, it is closed, and the agents that the kill
 * switch alone has ever changed are told apart no longer.
 *
 *     tenant    an agent that is listed    one that is not
 *     open      as its policy says         may call, without limits
 *     closed    as its policy says         stopped
 *
 * An operator still lets in whom they name. It stays closed until the next start finds places for all its stops.
 */
import {
  type AgentPolicy,
  type AgentScope,
  isAllAgents,
  KILL_SWITCH_ACTOR,
  splitAgentScope,
} from '#contracts';
import { defaultPolicy } from '#domain/policy';
import { FairShare } from '../../fair-share.js';

export interface AgentPoliciesParts {
  /** Agents with settings, and as many that were stopped; half of them of one tenant. */
  countMax: number;
  /** Once per tenant. Must not throw. */
  onClosed: (tenantId: string) => void;
  /** Stopped as before, but told apart no longer. */
  onUnlisted: (scope: AgentScope) => void;
}

export class AgentPolicies {
  readonly #parts: AgentPoliciesParts;
  readonly #settings: FairShare;
  readonly #stops: FairShare;
  readonly #listed = new Map<AgentScope, AgentPolicy>();
  /** Those listed that are about all agents of a tenant, by tenant. */
  readonly #ofAll = new Map<string, AgentPolicy>();
  readonly #closedTenants = new Set<string>();

  constructor(parts: AgentPoliciesParts) {
    this.#parts = parts;
    const places = { max: parts.countMax, onFull: () => {} };
    this.#settings = new FairShare(places);
    this.#stops = new FairShare(places);
  }

  /** Hot path; null for an agent without limits that may run. */
  restriction(scope: AgentScope): AgentPolicy | null {
    return this.#listed.get(scope) ?? (this.#closedTenants.size === 0 ? null : this.#unlisted(scope));
  }

  /** Hot path; null where nothing is set for all of the tenant's agents together. */
  restrictionOfAll(tenantId: string): AgentPolicy | null {
    return this.#ofAll.get(tenantId) ?? null;
  }

  /** Undefined where it is not told apart from others, whether they may call or not. */
  listed(scope: AgentScope): AgentPolicy | undefined {
    return this.#listed.get(scope);
  }

  scopes(): Iterable<AgentScope> {
    return this.#listed.keys();
  }

  /** There is a place for what an operator sets; to be asked before it is written. */
  fits(scope: AgentScope): boolean {
    return (
      isAllAgents(scope) ||
      this.#hasSettings(scope) ||
      this.#settings.fits(splitAgentScope(scope).tenantId, 1)
    );
  }

  /** In force at once. A stop without a place closes its tenant, and is in force by that. */
  set(scope: AgentScope, policy: AgentPolicy): void {
    const { tenantId } = splitAgentScope(scope);
    // A place of its own: all can be stopped, however many have settings.
    if (isAllAgents(scope)) {
      this.#ofAll.set(tenantId, policy);
      this.#listed.set(scope, policy);
      return;
    }
    const wasStop = this.#listed.has(scope) && !this.#hasSettings(scope);
    if (isStopOnly(policy)) {
      if (!wasStop && !this.#takeStop(tenantId)) return;
    } else {
      if (wasStop) this.#stops.giveBack(tenantId, 1);
      if (!this.#hasSettings(scope)) this.#settings.take(tenantId, 1);
    }
    this.#listed.set(scope, policy);
  }

  #hasSettings(scope: AgentScope): boolean {
    const policy = this.#listed.get(scope);
    return policy !== undefined && !isStopOnly(policy);
  }

  #takeStop(tenantId: string): boolean {
    if (this.#stops.take(tenantId, 1)) return true;
    this.#close(tenantId);
    return this.#stops.take(tenantId, 1);
  }

  #close(tenantId: string): void {
    for (const [scope, policy] of this.#listed) {
      if (splitAgentScope(scope).tenantId !== tenantId || !isStopOnly(policy)) continue;
      this.#listed.delete(scope);
      this.#stops.giveBack(tenantId, 1);
      this.#parts.onUnlisted(scope);
    }
    if (this.#closedTenants.has(tenantId)) return;
    this.#closedTenants.add(tenantId);
    this.#parts.onClosed(tenantId);
  }

  #unlisted(scope: AgentScope): AgentPolicy | null {
    const { tenantId, agentId } = splitAgentScope(scope);
    if (!this.#closedTenants.has(tenantId) || isAllAgents(scope)) return null;
    return {
      ...defaultPolicy(agentId),
      active: false,
      deactivated_by: KILL_SWITCH_ACTOR,
      deactivated_reason: CLOSED,
    };
  }
}

const CLOSED =
  'the kill switch has stopped more agents of this tenant than are told apart; who is to run needs an operator';

/** The kill switch's alone: no operator ever changed it. */
const isStopOnly = ({ active, updated_by }: AgentPolicy): boolean => !active && updated_by === null;
