/**
 * The rules of every tenant, and what of them is firing. Events and the tick go in, notices that are due come out; it
 * sends nothing, stores nothing and reads no clock of its own but for silence and for forgetting agents.
 *
 *     observe(event)  what happened to one agent: O(rules of its tenant), and nothing where no rule is about it
 *     tick(now)       what time alone changes: repeats, silence, windows that empty. Once a second, for `TICK_WORK_MS_MAX`
 */
import {
  type AlertRule,
  type AlertType,
  type NOTICE_PHASES,
  type PolicyBar,
  RULE_WINDOW_S_DEFAULT,
} from '#contracts';
import { type Clock, type SteadyClock, TtlLru } from '#kernel';
import { AgentFacts } from './agent-facts.js';
import type { AlertEvent } from './alert-event.js';
import type { BudgetUse } from './budget-share.js';
import { CallTally } from './call-tally.js';
import { LoopCarriers } from './loop-carriers.js';
import { asOf, isForgettable, planNotice, QUIET, type SubjectState } from './notice-plan.js';
import { type Hush, type NoticeDetail, readCondition } from './rule-condition.js';
import type { RuleSettings } from './rule-defaults.js';

/** Agents remembered per tenant; the one unheard of longest is forgotten, with what it made fire. */
export const AGENTS_PER_TENANT_MAX = 5_000;
/** Agents a rule keeps a state for; further ones do not fire until there is room. */
const SUBJECTS_PER_RULE_MAX = 5_000;
/** A tick looks at agents for so long, each tenant having an equal part of it, and the next one goes on where it stopped. */
export const TICK_WORK_MS_MAX = 100;

/** A notice whose time has come. */
export interface DueNotice {
  rule: RuleSettings;
  phase: Exclude<(typeof NOTICE_PHASES)[number], 'test'>;
  tenant_id: string;
  agent_id: string;
  session_id: string | null;
  at_ms: number;
  /** When it began. */
  since_ms: number;
  detail: NoticeDetail;
}

/** What is firing, as it survives a restart. */
export interface FiringState {
  agent_id: string;
  since_ms: number;
  notice_count: number;
  last_notice_ms: number | null;
  /** Sessions of which people heard; some may be over. */
  told_session_ids: string[];
  /** `budget` only: those that have refused a call. */
  refusals: readonly BudgetUse[];
}

interface Subject {
  state: SubjectState;
  tally: CallTally | null;
  /** Of the latest reading that held: a recovery names the session it was about. */
  sessionId: string | null;
  /** Looping sessions of which people heard. */
  toldSessionIds: ReadonlySet<string>;
}

interface RuleState {
  rule: RuleSettings;
  subjects: Map<string, Subject>;
}

interface TenantState {
  rules: Map<string, RuleState>;
  agents: TtlLru<string, AgentFacts>;
  loopCarriers: LoopCarriers;
  /** No more than there are sessions under control. */
  pausedSessionIds: Set<string>;
  /** What a tick has still to look at; null: it begins anew. */
  round: Iterator<{ one: RuleState; agentId: string }> | null;
}

export interface AlertRulesOptions {
  clock: Clock & SteadyClock;
  /** Every rule of a tenant. Asked when the tenant is first heard of, and at `refresh`. */
  rulesOf(tenantId: string): readonly RuleSettings[];
  /** Why its policy does not let it call now; null: it does. Asked for each agent, once a second. */
  policyBar(tenantId: string, agentId: string): PolicyBar | null;
  /** A bound was reached: an agent was forgotten, could not be watched, or is looked at later than a second after. */
  onBound(bound: 'agents' | 'subjects' | 'tick'): void;
}

/** Which events can change a rule's condition. Silence is broken by events, and begun by the tick. */
const ABOUT: Record<AlertType, ReadonlySet<AlertEvent['kind']>> = {
  kill_switch: new Set(['incident', 'reactivated']),
  entropy_loop: new Set(['step', 'severity']),
  semantic_loop: new Set(['semantic_loop']),
  hitl_required: new Set(['person']),
  budget: new Set(['spend']),
  error_rate: new Set(['call']),
  agent_silent: new Set(['call', 'step']),
};

/** What still holds after a restart is known then, and may be news. */
const TOLD_ON_START: ReadonlySet<AlertType> = new Set(['entropy_loop', 'hitl_required']);

export class AlertRules {
  readonly #options: AlertRulesOptions;
  readonly #tenants = new Map<string, TenantState>();
  /** Rules whose firing changed since it was last taken: tenant -> rule ids. */
  #changed = new Map<string, Set<string>>();

  constructor(options: AlertRulesOptions) {
    this.#options = options;
  }

  observe(event: AlertEvent): DueNotice[] {
    const tenant = this.#tenant(event.tenant_id);
    const due: DueNotice[] = [];
    for (const one of spread(tenant, event)) this.#observe(tenant, one, due);
    return due;
  }

  tick(nowMs: number): DueNotice[] {
    const due: DueNotice[] = [];
    const shareMs = TICK_WORK_MS_MAX / this.#tenants.size;
    for (const [tenantId, tenant] of this.#tenants) this.#lookRound(tenantId, tenant, nowMs, shareMs, due);
    return due;
  }

  /** Makes something known without asking whether it is worth a notice: what was so before a restart. */
  prime(event: AlertEvent): void {
    const tenant = this.#tenant(event.tenant_id);
    for (const one of spread(tenant, event)) {
      const facts = this.#facts(tenant, one.agent_id);
      facts.apply(one, this.#steadyOf(one.at_ms));
      facts.watchedSteadyMs = this.#options.clock.steadyMs();
    }
  }

  /** A session is paused, or no more: meanwhile nobody misses an agent that was last seen in it. */
  notePause(tenantId: string, sessionId: string, isPaused: boolean): void {
    const { pausedSessionIds } = this.#tenant(tenantId);
    if (isPaused) pausedSessionIds.add(sessionId);
    else pausedSessionIds.delete(sessionId);
  }

  /**
   * Sessions were terminated: nobody misses an agent that was last seen in one of them until it is seen again, and they are
   * in no loop any more, whoever else remembers them.
   */
  noteTerminated(tenant_id: string, sessionIds: ReadonlySet<string>, at_ms: number): DueNotice[] {
    const { agents, loopCarriers } = this.#tenant(tenant_id);
    for (const [, facts] of agents.entries())
      if (facts.seenInSessionId !== null && sessionIds.has(facts.seenInSessionId)) facts.isDismissed = true;
    return [...sessionIds].flatMap((session_id) => {
      const agent_id = loopCarriers.anyOf(session_id);
      const label = { kind: 'severity', tenant_id, session_id, at_ms, severity: 'normal' } as const;
      return agent_id === null ? [] : this.observe({ ...label, agent_id });
    });
  }

  /** After `prime` and `restore`: the loops and waits that go on, and that the last process ended before it told anybody of. */
  untold(nowMs: number): DueNotice[] {
    const due: DueNotice[] = [];
    for (const [tenantId, tenant] of this.#tenants) {
      for (const one of tenant.rules.values())
        if (TOLD_ON_START.has(one.rule.type)) this.#evaluateKnown(tenantId, tenant, one, nowMs, due);
    }
    return due;
  }

  /**
   * Rules were added, changed or removed. What goes on firing keeps its state; what a change ends, ends silently; what
   * holds already of the agents that a rule is about from now on is due.
   */
  refresh(tenantId: string, nowMs: number): DueNotice[] {
    const due: DueNotice[] = [];
    const tenant = this.#tenants.get(tenantId);
    if (tenant === undefined) return due;
    for (const one of this.#applyRules(tenantId, tenant))
      this.#evaluateKnown(tenantId, tenant, one, nowMs, due);
    return due;
  }

  firing(tenantId: string, ruleId: string): AlertRule['firing'] {
    return this.states(tenantId, ruleId).map(({ agent_id, since_ms, notice_count }) => ({
      agent_id,
      since_ms,
      notice_count,
    }));
  }

  /** To be kept, and given to `restore` after a restart. */
  states(tenantId: string, ruleId: string): FiringState[] {
    const states: FiringState[] = [];
    const { rules, agents } = this.#tenant(tenantId);
    const one = rules.get(ruleId);
    for (const [agentId, { state, toldSessionIds }] of one?.subjects ?? []) {
      if (state.sinceMs === null) continue;
      states.push({
        agent_id: agentId,
        since_ms: state.sinceMs,
        notice_count: state.noticeCount,
        last_notice_ms: state.lastNoticeMs,
        told_session_ids: [...toldSessionIds],
        refusals: one?.rule.type === 'budget' ? (agents.peek(agentId)?.refusals ?? []) : [],
      });
    }
    return states;
  }

  /** The rules whose firing changed since the last call, to be kept. */
  takeChanged(): { tenantId: string; ruleId: string }[] {
    const changed = [...this.#changed].flatMap(([tenantId, ruleIds]) =>
      [...ruleIds].map((ruleId) => ({ tenantId, ruleId })),
    );
    this.#changed = new Map();
    return changed;
  }

  /** It is among those that `takeChanged` gives next. */
  markChanged(tenantId: string, ruleId: string): void {
    const ruleIds = this.#changed.get(tenantId) ?? new Set();
    ruleIds.add(ruleId);
    this.#changed.set(tenantId, ruleIds);
  }

  restore(tenantId: string, ruleId: string, states: readonly FiringState[]): void {
    const tenant = this.#tenant(tenantId);
    const one = tenant.rules.get(ruleId);
    for (const kept of states.slice(0, SUBJECTS_PER_RULE_MAX)) {
      const { agent_id, since_ms, notice_count, last_notice_ms, refusals } = kept;
      const state = { sinceMs: since_ms, noticeCount: notice_count, lastNoticeMs: last_notice_ms };
      const toldSessionIds = new Set(kept.told_session_ids);
      const tally = one?.rule.type === 'error_rate' ? newTally(one.rule, this.#options.clock.nowMs()) : null;
      one?.subjects.set(agent_id, { state, tally, sessionId: null, toldSessionIds });
      if (one?.rule.type === 'entropy_loop') this.#recallLoops(tenantId, tenant, kept);
      if (one?.rule.type === 'semantic_loop')
        this.#facts(tenant, agent_id).recallLoop(kept.told_session_ids, last_notice_ms ?? since_ms);
      if (refusals.length > 0) this.#facts(tenant, agent_id).recallRefusals(refusals);
    }
  }

  /** Of a session in a loop `prime` knows the agent that was seen last; it is the loop of each of which people heard in it. */
  #recallLoops(tenant_id: string, tenant: TenantState, { agent_id, told_session_ids }: FiringState): void {
    for (const session_id of told_session_ids) {
      const at_ms = tenant.loopCarriers.heardMs(session_id);
      if (at_ms !== null)
        this.prime({ kind: 'severity', tenant_id, agent_id, session_id, at_ms, severity: 'loop' });
    }
  }

  #lookRound(tenantId: string, tenant: TenantState, nowMs: number, shareMs: number, due: DueNotice[]): void {
    const { clock, onBound } = this.#options;
    const startMs = clock.steadyMs();
    tenant.round ??= watched(tenant);
    for (let next = tenant.round.next(); next.done !== true; next = tenant.round.next()) {
      const { one, agentId } = next.value;
      const facts = tenant.agents.peek(agentId) ?? new AgentFacts();
      this.#evaluate(tenantId, one, agentId, facts, nowMs, due);
      this.#forgetQuiet(one, agentId, nowMs);
      if (clock.steadyMs() - startMs < shareMs) continue;
      onBound('tick');
      return;
    }
    tenant.round = null;
  }

  #observe(tenant: TenantState, event: AlertEvent, due: DueNotice[]): void {
    const facts = this.#facts(tenant, event.agent_id);
    const isNews = facts.apply(event, this.#steadyOf(event.at_ms));
    for (const one of tenant.rules.values()) {
      const { rule } = one;
      if (!ABOUT[rule.type].has(event.kind) || !concerns(rule, event.agent_id)) continue;
      // The common case, ten thousand times a second: a step that changes nothing.
      if (rule.type === 'entropy_loop' && !isNews) continue;
      if (rule.type === 'agent_silent' && !one.subjects.has(event.agent_id)) continue;
      if (rule.type === 'error_rate' && event.kind === 'call') {
        const subject = this.#subject(one, event.agent_id, event.at_ms);
        if (subject === null) continue;
        subject.tally ??= newTally(rule);
        subject.tally.add(event.at_ms, event.failed);
      }
      this.#evaluate(event.tenant_id, one, event.agent_id, facts, event.at_ms, due);
      if (rule.type === 'budget' && isNews) this.markChanged(event.tenant_id, rule.rule_id);
      // An operator looked and decided: what stops the agent after that is news, whatever the cooldown.
      if (event.kind === 'reactivated') one.subjects.delete(event.agent_id);
    }
  }

  #evaluate(
    tenantId: string,
    one: RuleState,
    agentId: string,
    facts: AgentFacts,
    nowMs: number,
    due: DueNotice[],
  ): void {
    const { rule } = one;
    const known = one.subjects.get(agentId);
    const isFiring = known !== undefined && known.state.sinceMs !== null;
    const tally = known?.tally ?? null;
    const toldSessionIds = known?.toldSessionIds ?? NO_SESSIONS;
    const hush = rule.type === 'agent_silent' ? this.#hushOf(tenantId, agentId, facts) : null;
    const steadyMs = this.#options.clock.steadyMs();
    if (hush !== null) facts.hushedSteadyMs = steadyMs;
    const reading = readCondition({ rule, facts, tally, toldSessionIds, hush, isFiring, nowMs, steadyMs });
    const { holds, session_id, detail, sessions = { told: [], untold: [] } } = reading;
    const isOn = holds === 'unknown' ? isFiring : holds;
    if (!isOn && !isFiring) return;
    const subject = known ?? this.#subject(one, agentId, nowMs);
    if (subject === null) return;
    const sinceMs = subject.state.sinceMs ?? nowMs;
    const isNews = sessions.untold.length > 0;
    const { state, say } = planNotice(subject.state, { holds: isOn, isNews }, rule, nowMs);
    // One that has left its loop is forgotten: when it comes back, it is news.
    const told = say === null ? sessions.told : [...sessions.told, ...sessions.untold];
    subject.toldSessionIds = told.length === 0 ? NO_SESSIONS : new Set(told);
    if (state !== subject.state) this.markChanged(tenantId, rule.rule_id);
    subject.state = state;
    if (isOn && session_id !== null) subject.sessionId = session_id;
    if (say !== null) {
      due.push({
        rule,
        phase: say,
        tenant_id: tenantId,
        agent_id: agentId,
        session_id: subject.sessionId,
        at_ms: nowMs,
        since_ms: sinceMs,
        detail,
      });
    }
    if (!isOn) subject.sessionId = null;
  }

  /** Every agent that the rule is about. */
  #evaluateKnown(
    tenantId: string,
    tenant: TenantState,
    one: RuleState,
    nowMs: number,
    due: DueNotice[],
  ): void {
    for (const [agentId, facts] of tenant.agents.entries())
      if (concerns(one.rule, agentId)) this.#evaluate(tenantId, one, agentId, facts, nowMs, due);
  }

  /** Somebody's decision before a call that is held for it. */
  #hushOf(tenantId: string, agentId: string, facts: AgentFacts): Hush | null {
    const { incident, runningCallCount, isDismissed, seenInSessionId } = facts;
    if (incident !== null) return 'killed';
    if (isDismissed) return 'terminated';
    const bar = this.#options.policyBar(tenantId, agentId);
    if (bar !== null) return bar;
    if (seenInSessionId !== null && this.#tenant(tenantId).pausedSessionIds.has(seenInSessionId))
      return 'paused';
    return runningCallCount > 0 ? 'busy' : null;
  }

  /** When that was, by the steady clock. Before this process only the wall clock tells; what is to come counts as now. */
  #steadyOf(atMs: number): number {
    const { clock } = this.#options;
    return clock.steadyMs() - Math.max(0, clock.nowMs() - atMs);
  }

  /** Null when every place is taken by something that fires. */
  #subject(one: RuleState, agentId: string, nowMs: number): Subject | null {
    const known = one.subjects.get(agentId);
    if (known !== undefined) return known;
    if (one.subjects.size >= SUBJECTS_PER_RULE_MAX && !this.#makeRoom(one, nowMs)) return null;
    const subject: Subject = { state: QUIET, tally: null, sessionId: null, toldSessionIds: NO_SESSIONS };
    one.subjects.set(agentId, subject);
    return subject;
  }

  #makeRoom(one: RuleState, nowMs: number): boolean {
    this.#options.onBound('subjects');
    for (const [agentId, { state }] of one.subjects) {
      if (isForgettable(state, one.rule.cooldown_s, nowMs)) return one.subjects.delete(agentId);
    }
    return false;
  }

  #forgetQuiet(one: RuleState, agentId: string, nowMs: number): void {
    const subject = one.subjects.get(agentId);
    if (subject === undefined) return;
    subject.state = asOf(nowMs, subject.state);
    if (!isForgettable(subject.state, one.rule.cooldown_s, nowMs)) return;
    if ((subject.tally?.read(nowMs).callCount ?? 0) === 0) one.subjects.delete(agentId);
  }

  #tenant(tenantId: string): TenantState {
    const known = this.#tenants.get(tenantId);
    if (known !== undefined) return known;
    const rules: TenantState['rules'] = new Map();
    const agents = new TtlLru<string, AgentFacts>({
      countMax: AGENTS_PER_TENANT_MAX,
      idleMs: Number.POSITIVE_INFINITY,
      clock: this.#options.clock,
      onEvict: (agentId) => {
        for (const one of rules.values()) this.#forget(tenantId, one, agentId);
        this.#options.onBound('agents');
      },
    });
    const tenant = {
      rules,
      agents,
      loopCarriers: new LoopCarriers(this.#options.clock),
      pausedSessionIds: new Set<string>(),
      round: null,
    };
    this.#tenants.set(tenantId, tenant);
    this.#applyRules(tenantId, tenant);
    return tenant;
  }

  #facts(tenant: TenantState, agentId: string): AgentFacts {
    let facts = tenant.agents.get(agentId);
    if (facts === undefined) {
      facts = new AgentFacts();
      tenant.agents.set(agentId, facts);
    }
    return facts;
  }

  /** @returns those that are about agents they were not about before */
  #applyRules(tenantId: string, { rules }: TenantState): RuleState[] {
    const settings = this.#options.rulesOf(tenantId).filter((rule) => rule.enabled);
    const kept = new Set(settings.map((rule) => rule.rule_id));
    const widened: RuleState[] = [];
    for (const ruleId of rules.keys()) {
      if (kept.has(ruleId)) continue;
      rules.delete(ruleId);
      this.markChanged(tenantId, ruleId);
    }
    for (const rule of settings) {
      const known = rules.get(rule.rule_id);
      if (known === undefined) {
        const one: RuleState = { rule, subjects: new Map() };
        rules.set(rule.rule_id, one);
        widened.push(one);
        continue;
      }
      for (const [agentId, subject] of known.subjects) {
        if (!concerns(rule, agentId)) this.#forget(tenantId, known, agentId);
        // Counts of one window say nothing about another.
        if (rule.window_s !== known.rule.window_s && subject.tally !== null)
          subject.tally = newTally(rule, this.#options.clock.nowMs());
      }
      if (rule.agent_id !== known.rule.agent_id) widened.push(known);
      known.rule = rule;
    }
    return widened;
  }

  /** Silently; what is kept of it as firing goes too. */
  #forget(tenantId: string, { rule, subjects }: RuleState, agentId: string): void {
    const subject = subjects.get(agentId);
    if (subject === undefined) return;
    if (subject.state.sinceMs !== null) this.markChanged(tenantId, rule.rule_id);
    subjects.delete(agentId);
  }
}

const NO_SESSIONS: ReadonlySet<string> = new Set();

/** @param sinceMs as `CallTally` has it */
const newTally = (rule: RuleSettings, sinceMs?: number): CallTally =>
  new CallTally((rule.window_s ?? RULE_WINDOW_S_DEFAULT.error_rate) * 1_000, sinceMs);

const concerns = (rule: RuleSettings, agentId: string): boolean =>
  rule.agent_id === null || rule.agent_id === agentId;

/** Each agent that time may change something about, for each rule. It may take several ticks: what is gone meanwhile is left out. */
function* watched({ rules, agents }: TenantState): Generator<{ one: RuleState; agentId: string }> {
  for (const one of rules.values()) {
    const isSilence = one.rule.type === 'agent_silent';
    const agentIds = [...(isSilence ? agents.entries() : one.subjects.entries())].map(([agentId]) => agentId);
    for (const agentId of agentIds) {
      if (rules.get(one.rule.rule_id) !== one) break;
      const isThere = one.subjects.has(agentId) || (isSilence && agents.peek(agentId) !== undefined);
      if (isThere && concerns(one.rule, agentId)) yield { one, agentId };
    }
  }
}

/** The event itself, and before it what it means to other agents: those from whose session it takes the loop label. */
function spread(tenant: TenantState, event: AlertEvent): readonly AlertEvent[] {
  const relieved = tenant.loopCarriers.apply(event);
  if (relieved.length === 0) return [event];
  const { tenant_id, session_id, at_ms } = event;
  const label = { kind: 'severity', tenant_id, session_id, at_ms, severity: 'normal' } as const;
  return [...relieved.map((agent_id) => ({ ...label, agent_id })), event];
}
