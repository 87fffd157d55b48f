/**
 * Agents as the Agents page lists them, one by one and taken together, put together from those who know; sent on `gateway:agents`
 * and `gateway:all_agents` when they change.
 */
import { setImmediate } from 'node:timers/promises';
import {
  type AgentPolicy,
  type AgentScope,
  type AgentView,
  type AllAgentsView,
  agentScope,
  allAgents,
  allAgentsPolicySchema,
  isAllAgents,
  type KillSwitchAnswer,
  LIMITS,
  type LivePublisher,
  splitAgentScope,
  TOPICS,
} from '#contracts';
import { type KillSwitchWindows, presetOf } from '#domain/kill-switch';
import { type Clock, MINUTE_MS } from '#kernel';
import type { HeldCalls } from '../calls/held-calls.js';
import { type AgentActivity, hasBudget } from './agent-activity.js';
import type { AgentDirectory } from './agent-directory.js';
import { type AgentInBrief, agentsToShow, isNear } from './agents-to-show.js';
import type { SplitAgents } from './split-agents.js';
import { agentOfWindow } from './window-key.js';

/** One view per changed agent and interval. */
const PUBLISH_INTERVAL_MS = 1_000;
/** Agents looked at in one turn of the event loop: proxied calls wait behind it, and a tenant may have tens of thousands. */
export const AGENTS_PER_TURN = 500;

export interface AgentViewsParts {
  clock: Clock;
  agents: AgentDirectory;
  activity: AgentActivity;
  windows: Pick<KillSwitchWindows, 'highestScores'>;
  held: HeldCalls;
  split: Pick<SplitAgents, 'isSplit'>;
  live: LivePublisher;
}

export class AgentViews {
  readonly #parts: AgentViewsParts;
  readonly #changed = new Set<AgentScope>();
  /** Figures that time alone changes, as they were shown last; of too many the first gives way. */
  readonly #shown = new Map<AgentScope, string>();
  #timer: NodeJS.Timeout | undefined;
  /** By the clock: a day's sum ends with the day. */
  #fadedMinute = Number.NaN;

  constructor(parts: AgentViewsParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), PUBLISH_INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Published with the next interval, if it is known then. */
  touch(tenantId: string, agentId: string): void {
    this.#changed.add(agentScope(tenantId, agentId));
  }

  /** Those whose rates have sunk, whose windows were forgotten or whose hour, day or month is over since they were shown. */
  publishFaded(): void {
    if (this.#shown.size === 0) return;
    const scores = this.#scores();
    for (const [scope, figures] of [...this.#shown]) {
      const { tenantId, agentId } = splitAgentScope(scope);
      const view = isAllAgents(scope) ? this.allAgents(tenantId) : this.#view(tenantId, agentId, scores);
      if (fadingFigures(view) !== figures) this.#send(scope, scores);
    }
  }

  /** By agent id, over several turns; of too many, what wants somebody stays. @param q found in their ids, whatever the case */
  async list(tenantId: string, q = ''): Promise<AgentView[]> {
    const { agents, activity } = this.#parts;
    const scores = this.#scores();
    await setImmediate();
    const needle = q.trim().toLowerCase();
    const ids = new Set([...agents.known(tenantId), ...activity.known(tenantId)]);
    const found = [...ids].filter((id) => id.toLowerCase().includes(needle));
    const { listedAgentsMax } = LIMITS;
    const shown =
      found.length <= listedAgentsMax
        ? found.sort()
        : agentsToShow(await mapInTurns(found, (id) => this.#brief(tenantId, id, scores)), listedAgentsMax);
    return mapInTurns(shown, (id) => {
      const view = this.#view(tenantId, id, scores);
      this.#noteShown(agentScope(tenantId, id), view, false);
      return view;
    });
  }

  #brief(tenantId: string, agent_id: string, scores: ReadonlyMap<string, number>): AgentInBrief {
    const { agents, activity, held } = this.#parts;
    const scope = agentScope(tenantId, agent_id);
    const policy = agents.policy(scope);
    const { enabled, threshold } = agents.killSwitch(scope);
    const { lastCallMs, isRefused } = activity.lastCall(scope);
    const budgets = hasBudget(policy) ? activity.budgets(scope, policy) : [];
    return {
      agent_id,
      waits: agents.openIncidentId(scope) !== null || held.of(tenantId, { agentId: agent_id }).length > 0,
      isActive: policy.active,
      isWarned:
        isRefused ||
        budgets.some(({ spent_usd, budget_usd }) => isNear(spent_usd, budget_usd)) ||
        (enabled && isNear(scores.get(scope) ?? 0, threshold)),
      lastCallMs,
    };
  }

  /** Exactly those that are in `list`, whatever its bound. */
  isKnown(tenantId: string, agentId: string): boolean {
    const { agents, activity } = this.#parts;
    const scope = agentScope(tenantId, agentId);
    return activity.has(scope) || agents.has(scope);
  }

  view(tenantId: string, agentId: string): AgentView {
    return this.#view(tenantId, agentId, this.#scores());
  }

  #view(tenantId: string, agentId: string, scores: ReadonlyMap<string, number>): AgentView {
    const { agents, activity, held, split } = this.#parts;
    const scope = agentScope(tenantId, agentId);
    const policy = agents.policy(scope);
    const { lastCallMs, callsPerMinute, errorRate, refusalRate, latestRefusal, runningCount } =
      activity.view(scope);
    const heldCalls = held.of(tenantId, { agentId });
    return {
      agent_id: agentId,
      policy,
      is_stop_stored: agents.isStopStored(scope),
      kill_switch: this.killSwitch(scope, scores),
      spend: this.#spend(scope, policy),
      last_call_ms: lastCallMs,
      calls_per_minute: callsPerMinute,
      error_rate: errorRate,
      refusal_rate: refusalRate,
      latest_refusal: latestRefusal,
      running_call_count: runningCount,
      held_call_count: heldCalls.length,
      held_since_ms: heldCalls[0]?.since_ms ?? null,
      open_incident_id: agents.openIncidentId(scope),
      is_split: split.isSplit(scope),
    };
  }

  /** What all of them may do and have spent together. */
  allAgents(tenantId: string): AllAgentsView {
    const scope = allAgents(tenantId);
    const { agents } = this.#parts;
    const policy = agents.policy(scope);
    const view = {
      policy: allAgentsPolicySchema.parse(policy),
      is_stop_stored: agents.isStopStored(scope),
      spend: this.#spend(scope, policy),
    };
    this.#noteShown(scope, view, false);
    return view;
  }

  #spend(scope: AgentScope, policy: AgentPolicy): AgentView['spend'] {
    const { activity } = this.#parts;
    const spent = activity.spent(scope);
    const unpriced = activity.unpriced(scope);
    const against = (span: keyof AgentView['spend'], budget_usd: number | null) => ({
      spent_usd: spent[span] / 1e6,
      unpriced_call_count: unpriced[span],
      budget_usd,
    });
    return {
      hour: against('hour', policy.budget_hour_usd),
      day: against('day', policy.budget_day_usd),
      month: against('month', policy.budget_month_usd),
    };
  }

  /** @param isForAll everybody who looks has these figures now; else who looked before may have older ones */
  #noteShown(scope: AgentScope, view: Fading, isForAll: boolean): void {
    if (!isForAll && this.#shown.has(scope)) return;
    this.#shown.delete(scope);
    if (hasFaded(view)) return;
    this.#shown.set(scope, fadingFigures(view));
    if (this.#shown.size > LIMITS.listedAgentsMax)
      this.#shown.delete(this.#shown.keys().next().value as AgentScope);
  }

  #send(scope: AgentScope, scores: ReadonlyMap<string, number>): void {
    const { tenantId, agentId } = splitAgentScope(scope);
    const { live } = this.#parts;
    if (isAllAgents(scope)) {
      const view = this.allAgents(tenantId);
      live.publish(tenantId, TOPICS.allAgents, view);
      this.#noteShown(scope, view, true);
      return;
    }
    // A command that changed nothing may have named anything.
    if (!this.isKnown(tenantId, agentId)) return;
    const view = this.#view(tenantId, agentId, scores);
    live.publish(tenantId, TOPICS.agents, view);
    this.#noteShown(scope, view, true);
  }

  /** @param scores highest per agent, where many are asked for at once */
  killSwitch(scope: AgentScope, scores: ReadonlyMap<string, number> = this.#scores()): KillSwitchAnswer {
    const settings = this.#parts.agents.killSwitch(scope);
    // The spread last: members added behind it cost several times as much.
    return {
      agent_id: splitAgentScope(scope).agentId,
      preset: presetOf(settings),
      live_score: settings.enabled ? (scores.get(scope) ?? null) : null,
      ...settings,
    };
  }

  /** Agent -> highest score among its windows, in one pass over all. */
  #scores(): ReadonlyMap<string, number> {
    return this.#parts.windows.highestScores(agentOfWindow);
  }

  /** What fades does so with the minute that begins, for an agent that calls no more. */
  #tick(): void {
    const minute = Math.floor(this.#parts.clock.nowMs() / MINUTE_MS);
    if (minute !== this.#fadedMinute) this.publishFaded();
    this.#fadedMinute = minute;
    this.#publish();
  }

  #publish(): void {
    if (this.#changed.size === 0) return;
    const scores = this.#scores();
    for (const scope of this.#changed) this.#send(scope, scores);
    this.#changed.clear();
  }
}

/** A turn of the event loop of its own for each part. */
async function mapInTurns<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += AGENTS_PER_TURN) {
    await setImmediate();
    for (const item of items.slice(at, at + AGENTS_PER_TURN)) results.push(map(item));
  }
  return results;
}

/** What time alone changes. */
type Fading = Pick<AgentView, 'spend'> &
  Partial<Pick<AgentView, 'calls_per_minute' | 'error_rate' | 'refusal_rate' | 'kill_switch'>>;

const fadingFigures = ({ calls_per_minute, error_rate, refusal_rate, kill_switch, spend }: Fading): string =>
  JSON.stringify([calls_per_minute, error_rate, refusal_rate, kill_switch?.live_score, spend]);

/** What stands there of it stays as it is. */
const hasFaded = ({ error_rate = null, kill_switch, spend }: Fading): boolean =>
  error_rate === null &&
  (kill_switch?.live_score ?? null) === null &&
  [spend.hour, spend.month].every(
    ({ spent_usd, unpriced_call_count }) => spent_usd === 0 && unpriced_call_count === 0,
  );
