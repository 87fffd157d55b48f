/**
 * Watches: whoever knows something tells it with `note`, once a second it looks at what time alone changes, and what is
 * due goes to the channels of its rule. Notes cost little and never throw; they sit on request paths.
 */
import {
  type AgentScope,
  ALL_AGENTS,
  type AlertNotice,
  type AlertRule,
  agentScope,
  type PolicyBar,
} from '#contracts';
import {
  type AlertEvent,
  AlertRules,
  type DueNotice,
  type FiringState,
  firingAfter,
  type KeptFiring,
  noticeOf,
  type SpentUsd,
  type StoredNotice,
} from '#domain/alerts';
import type { Clock, IdSource, Timer } from '#kernel';
import type { AlertDocuments } from './alert-documents.js';
import type { AlertTelemetry } from './alert-telemetry.js';
import { ruleKey } from './delivery-queue.js';

export const ALERT_MONITOR = Symbol('AlertMonitor');

const TICK_MS = 1_000;

export type Acknowledging = Parameters<AlertRules['acknowledge']>;

export interface AlertMonitorOptions {
  documents: Pick<AlertDocuments, 'rules' | 'rule' | 'loadedFiring' | 'saveFiring'>;
  clock: Clock;
  ids: IdSource;
  timer: Timer;
  publicUrl: string | null;
  /** Why its policy does not let this agent call now; null: it does. */
  policyBar(tenantId: string, agentId: string): PolicyBar | null;
  /** What it has spent, in USD; null: all agents together. */
  spentUsd(tenantId: string, agentId: string | null): SpentUsd;
  deliver(notice: AlertNotice, channelId: string): void;
  /** Of the delivery that was stored last; 0: none by this process. */
  lastSeq(): number;
  /** Rules, by `ruleKey`, some of whose notices are not on disk yet. */
  unwrittenRules(): ReadonlySet<string>;
  telemetry: AlertTelemetry;
}

export class AlertMonitor {
  readonly #options: AlertMonitorOptions;
  readonly #rules: AlertRules;
  /** Of the delivery that an earlier process stored last. */
  #foundSeq = 0;
  #saving: Promise<void> = Promise.resolve();
  #cancelTick: () => void = () => {};
  #isStopped = false;

  constructor(options: AlertMonitorOptions) {
    this.#options = options;
    this.#rules = new AlertRules({
      clock: options.clock,
      rulesOf: (tenantId) => options.documents.rules(tenantId),
      policyBar: options.policyBar,
      spentUsd: options.spentUsd,
      onBound: (bound) => options.telemetry.boundReached(bound),
    });
  }

  /** Tells what happened to one agent. */
  note(event: AlertEvent): void {
    this.#run(() => this.#rules.observe(event));
  }

  /** Makes known what was so before this process, without a word to anybody. Before `start`. */
  prime(event: AlertEvent): void {
    this.#rules.prime(event);
  }

  /** A session is paused, or no more. */
  notePause(tenantId: string, sessionId: string, isPaused: boolean): void {
    this.#rules.notePause(tenantId, sessionId, isPaused);
  }

  /** Sessions were terminated. */
  noteTerminated(tenantId: string, sessionIds: ReadonlySet<string>): void {
    this.#run(() => this.#rules.noteTerminated(tenantId, sessionIds, this.#options.clock.nowMs()));
  }

  /**
   * What was firing when the last process ended.
   * @param latest notices on disk, those at least of which it may not have kept that they were told
   */
  firingBefore(latest: readonly StoredNotice[]): KeptFiring[] {
    const { documents } = this.#options;
    const kept = documents.loadedFiring();
    for (const { seq } of latest) this.#foundSeq = Math.max(this.#foundSeq, seq);
    for (const { asOfSeq } of kept) this.#foundSeq = Math.max(this.#foundSeq, asOfSeq ?? 0);
    const removed = (tenantId: string, ruleId: string) =>
      kept.find((one) => one.tenantId === tenantId && one.ruleId === ruleId)?.removed;
    const channelsOf = (tenantId: string, ruleId: string) =>
      (documents.rule(tenantId, ruleId) ?? removed(tenantId, ruleId))?.channel_ids ?? [];
    return firingAfter(kept, latest, channelsOf);
  }

  /** Brings back what was firing and begins to look at the time. */
  start(before: readonly KeptFiring[]): void {
    const { documents, clock } = this.#options;
    const kept = documents.loadedFiring();
    for (const firing of before) {
      const { tenantId, ruleId, states, removed } = firing;
      this.#rules.restore(tenantId, ruleId, states);
      const rule = documents.rule(tenantId, ruleId) ?? removed;
      if (rule !== undefined) this.#run(() => this.#rules.unclosed(tenantId, rule, states, clock.nowMs()));
      if (!kept.includes(firing) || removed !== undefined) this.#rules.markChanged(tenantId, ruleId);
    }
    this.#run(() => this.#rules.untold(clock.nowMs()));
    this.#armTick();
  }

  /** Keeps what fires, then stands still. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTick();
    this.#saveChanged();
    await this.#saving;
  }

  /** To be kept of a rule now, with what it fires. */
  kept(tenantId: string, ruleId: string): KeptFiring {
    const asOfSeq = Math.max(this.#foundSeq, this.#options.lastSeq());
    const states = this.#rules.states(tenantId, ruleId);
    return { tenantId, ruleId, states, asOfSeq, asOfMs: this.#options.clock.nowMs() };
  }

  /**
   * As `kept`, with what somebody takes in hand or hands back now. Null: some of its notices are not on disk, and to keep that they
   * were told would lose them with this process.
   */
  keptInHand(...change: Acknowledging): KeptFiring | null {
    const [tenantId, ruleId, { agentId, sinceMs }, acknowledged] = change;
    if (this.#options.unwrittenRules().has(ruleKey(tenantId, ruleId))) return null;
    const kept = this.kept(tenantId, ruleId);
    const isMeant = ({ agent_id, since_ms }: FiringState) =>
      agent_id === (agentId ?? ALL_AGENTS) && since_ms === sinceMs;
    const states = kept.states.map((state) => (isMeant(state) ? { ...state, acknowledged } : state));
    return { ...kept, states };
  }

  /** Agents for which a rule about budgets fires. */
  *overBudget(): Generator<AgentScope> {
    for (const { tenantId, agentId } of this.#rules.firingAgents('budget'))
      yield agentScope(tenantId, agentId);
  }

  /** @see AlertRules.acknowledge */
  acknowledge(...change: Acknowledging): void {
    this.#run(() => this.#rules.acknowledge(...change));
    this.#saveChanged();
  }

  firing(tenantId: string, ruleId: string): AlertRule['firing'] {
    return this.#rules.firing(tenantId, ruleId);
  }

  /** Kept at once: by the rule as it is after its next change, a start would say other things of what this one has ended. */
  rulesChanged(tenantId: string): void {
    this.#run(() => this.#rules.refresh(tenantId, this.#options.clock.nowMs()));
    this.#saveChanged();
  }

  /** What it fired is closed, and nothing more need be kept of it. */
  ruleRemoved(tenantId: string, ruleId: string): void {
    this.#rules.markChanged(tenantId, ruleId);
    this.rulesChanged(tenantId);
  }

  #armTick(): void {
    this.#cancelTick = this.#options.timer.after(TICK_MS, () => {
      if (this.#isStopped) return;
      this.#run(() => this.#rules.tick(this.#options.clock.nowMs()));
      this.#saveChanged();
      this.#armTick();
    });
  }

  #run(look: () => DueNotice[]): void {
    try {
      for (const due of look()) this.#dispatch(due);
    } catch (error) {
      this.#options.telemetry.ruleFailed(error);
    }
  }

  #dispatch(due: DueNotice): void {
    const { ids, publicUrl, deliver, telemetry } = this.#options;
    const notice = noticeOf(due, { noticeId: `ntc_${ids.next()}`, publicUrl });
    telemetry.noticed(notice);
    for (const channelId of new Set(due.rule.channel_ids)) deliver(notice, channelId);
  }

  /**
   * Not waited for: what a crash loses of it the next start finds in the notices, as far as it looks. What the store refuses is
   * kept with the next tick. That somebody was told is kept after the notice itself is: the other way round, a crash between them
   * would lose it.
   */
  #saveChanged(): void {
    const { documents, telemetry, unwrittenRules } = this.#options;
    const unwritten = unwrittenRules();
    for (const { tenantId, ruleId } of this.#rules.takeChanged()) {
      if (unwritten.has(ruleKey(tenantId, ruleId))) {
        this.#rules.markChanged(tenantId, ruleId);
        continue;
      }
      const kept = this.kept(tenantId, ruleId);
      this.#saving = this.#saving
        .then(() => documents.saveFiring(kept))
        .catch((error: unknown) => {
          telemetry.storeFailed('firing', error);
          this.#rules.markChanged(tenantId, ruleId);
        });
    }
  }
}
