/** Agents as the Agents page lists them, put together from those who know; sent on `gateway:agents` when they change. */
import {
  type AgentScope,
  type AgentView,
  agentScope,
  type KillSwitchAnswer,
  type LivePublisher,
  splitAgentScope,
  TOPICS,
} from '#contracts';
import { type KillSwitchWindows, presetOf } from '#domain/kill-switch';
import type { AgentActivity } from './agent-activity.js';
import type { AgentDirectory } from './agent-directory.js';
import type { HeldCalls } from './held-calls.js';
import { agentOfWindow } from './window-key.js';

/** One view per changed agent and interval. */
const PUBLISH_INTERVAL_MS = 1_000;
/** Agents in a listing. */
const LIST_COUNT_MAX = 2_000;

export interface AgentViewsParts {
  agents: AgentDirectory;
  activity: AgentActivity;
  windows: Pick<KillSwitchWindows, 'highestScores'>;
  held: HeldCalls;
  live: LivePublisher;
}

export class AgentViews {
  readonly #parts: AgentViewsParts;
  readonly #changed = new Set<AgentScope>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: AgentViewsParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer = setInterval(() => this.#publish(), PUBLISH_INTERVAL_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Published with the next interval. */
  touch(tenantId: string, agentId: string): void {
    this.#changed.add(agentScope(tenantId, agentId));
  }

  /** By agent id. */
  list(tenantId: string): AgentView[] {
    const { agents, activity } = this.#parts;
    const scores = this.#scores();
    const ids = new Set([...agents.known(tenantId), ...activity.known(tenantId)]);
    return [...ids]
      .sort()
      .slice(0, LIST_COUNT_MAX)
      .map((id) => this.#view(tenantId, id, scores));
  }

  /** Exactly those that are in `list`, whatever its bound. */
  isKnown(tenantId: string, agentId: string): boolean {
    const { agents, activity } = this.#parts;
    return activity.has(agentScope(tenantId, agentId)) || [...agents.known(tenantId)].includes(agentId);
  }

  view(tenantId: string, agentId: string): AgentView {
    return this.#view(tenantId, agentId, this.#scores());
  }

  #view(tenantId: string, agentId: string, scores: ReadonlyMap<string, number>): AgentView {
    const { agents, activity, held } = this.#parts;
    const scope = agentScope(tenantId, agentId);
    const policy = agents.policy(scope);
    const { lastCallMs, callsPerMinute, errorRate, refusalRate, latestRefusal, runningCount } =
      activity.view(scope);
    const spent = activity.spent(scope);
    const unpriced = activity.unpriced(scope);
    const against = (span: keyof AgentView['spend'], budget_usd: number | null) => ({
      spent_usd: spent[span] / 1e6,
      unpriced_call_count: unpriced[span],
      budget_usd,
    });
    const heldCalls = held.of(tenantId, { agentId });
    return {
      agent_id: agentId,
      policy,
      kill_switch: this.killSwitch(scope, scores),
      spend: {
        hour: against('hour', policy.budget_hour_usd),
        day: against('day', policy.budget_day_usd),
        month: against('month', policy.budget_month_usd),
      },
      last_call_ms: lastCallMs,
      calls_per_minute: callsPerMinute,
      error_rate: errorRate,
      refusal_rate: refusalRate,
      latest_refusal: latestRefusal,
      running_call_count: runningCount,
      held_call_count: heldCalls.length,
      held_since_ms: heldCalls[0]?.since_ms ?? null,
      open_incident_id: agents.openIncidentId(scope),
    };
  }

  /** @param scores highest per agent, where many are asked for at once */
  killSwitch(scope: AgentScope, scores: ReadonlyMap<string, number> = this.#scores()): KillSwitchAnswer {
    const settings = this.#parts.agents.killSwitch(scope);
    return {
      ...settings,
      agent_id: splitAgentScope(scope).agentId,
      preset: presetOf(settings),
      live_score: settings.enabled ? (scores.get(scope) ?? null) : null,
    };
  }

  /** Agent -> highest score among its windows, in one pass over all. */
  #scores(): ReadonlyMap<string, number> {
    return this.#parts.windows.highestScores(agentOfWindow);
  }

  #publish(): void {
    if (this.#changed.size === 0) return;
    const scores = this.#scores();
    for (const scope of this.#changed) {
      const { tenantId, agentId } = splitAgentScope(scope);
      this.#parts.live.publish(tenantId, TOPICS.agents, this.#view(tenantId, agentId, scores));
    }
    this.#changed.clear();
  }
}
