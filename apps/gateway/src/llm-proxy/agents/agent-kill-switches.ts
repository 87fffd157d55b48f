/** The kill switches that operators have set for single agents. A change is durable before it is in force. */
import {
  type AgentKillSwitch,
  type AgentScope,
  agentScope,
  type KillSwitchPatch,
  type ProxyStore,
  splitAgentScope,
} from '#contracts';
import { applyKillSwitchPatch, DEFAULT_KILL_SWITCH } from '#domain/kill-switch';
import { type Clock, changesOf } from '#kernel';
import type { Auditor, SettingsAudit } from '../../auth/settings-audit.js';
import { FairShare } from '../../fair-share.js';
import { isEmpty, requirePlace } from './agent-settings.js';

interface AgentKillSwitchesParts {
  store: Pick<ProxyStore, 'documents' | 'commitDocuments'>;
  audit: SettingsAudit;
  clock: Clock;
}

export class AgentKillSwitches {
  readonly #parts: AgentKillSwitchesParts;
  readonly #settings = new Map<AgentScope, AgentKillSwitch>();
  readonly #places: FairShare;

  /** @param countMax agents that may have settings of their own, half of them of one tenant */
  constructor(parts: AgentKillSwitchesParts, countMax: number) {
    this.#parts = parts;
    this.#places = new FairShare({ max: countMax, onFull: () => {} });
  }

  /** Before the first call. Rejects as the store does. */
  async load(): Promise<void> {
    for (const { tenant_id, id, body } of await this.#parts.store.documents('kill_switch'))
      this.#set(agentScope(tenant_id, id), { ...DEFAULT_KILL_SWITCH, ...(body as AgentKillSwitch) });
  }

  /** Hot path. */
  of(scope: AgentScope): AgentKillSwitch {
    return this.#settings.get(scope) ?? DEFAULT_KILL_SWITCH;
  }

  has(scope: AgentScope): boolean {
    return this.#settings.has(scope);
  }

  /** Those with settings of their own, of all tenants. */
  scopes(): Iterable<AgentScope> {
    return this.#settings.keys();
  }

  /** One after another for each agent. Rejects as the store does: then nothing has changed. */
  async patch(scope: AgentScope, patch: KillSwitchPatch, by: Auditor): Promise<AgentKillSwitch> {
    const { store, audit, clock } = this.#parts;
    const before = this.of(scope);
    const after = applyKillSwitchPatch(before, patch, by.operator_id, clock.nowMs());
    const { updated_at_ms: _, updated_by: __, ...settings } = after;
    if (isEmpty(changesOf(settings, before))) return before;
    const { tenantId, agentId } = splitAgentScope(scope);
    requirePlace(this.#settings.has(scope) || this.#places.fits(tenantId, 1));
    const key = { tenant_id: tenantId, kind: 'kill_switch' as const, id: agentId };
    await store.commitDocuments({
      saved: [{ ...key, body: after, updated_at_ms: clock.nowMs() }],
      audit: [audit.draft(by, tenantId, 'agent.kill_switch', { agent_id: agentId, ...patch })],
    });
    this.#set(scope, after);
    return after;
  }

  #set(scope: AgentScope, settings: AgentKillSwitch): void {
    if (!this.#settings.has(scope)) this.#places.take(splitAgentScope(scope).tenantId, 1);
    this.#settings.set(scope, settings);
  }
}
