/** A rule, and what is known of each agent that it has something to say of, or had. */
import { type Acknowledgement, RULE_WINDOW_S_DEFAULT } from '#contracts';
import type { BudgetUse } from './budget-share.js';
import { CallTally } from './call-tally.js';
import { asOf, isForgettable, QUIET, type SubjectState } from './notice-plan.js';
import { isAbout, type RuleSettings } from './rule-defaults.js';

/** Agents a rule keeps a state for; further ones do not fire until there is room. */
const SUBJECTS_PER_RULE_MAX = 5_000;

export const NO_SESSIONS: ReadonlySet<string> = new Set();

export interface Subject {
  state: SubjectState;
  tally: CallTally | null;
  /** Of the latest reading that held: a recovery names the session it was about. */
  sessionId: string | null;
  /** Looping sessions, or the refusal of a budget, of which people heard; of a kill switch the incident, heard of or not. */
  toldSessionIds: ReadonlySet<string>;
}

/** What is firing, or was and may be cooling, as it survives a restart. */
export interface FiringState {
  agent_id: string;
  /** Null: it is over. */
  since_ms: number | null;
  notice_count: number;
  last_notice_ms: number | null;
  /** As `toldSessionIds`; some may be over. */
  told_session_ids: string[];
  acknowledged: Acknowledgement | null;
  /** `budget` only: those that have refused a call. */
  refusals: readonly BudgetUse[];
}

/** None of its channels was sent what was said so far: for them all of it is news. */
export const isUnheard = (after: RuleSettings, before: RuleSettings): boolean =>
  after.channel_ids.length > 0 && !after.channel_ids.some((id) => before.channel_ids.includes(id));

/** What fires, as it is where nobody was told of it. */
export const untold = (states: readonly FiringState[]): FiringState[] =>
  states
    .filter(({ since_ms }) => since_ms !== null)
    .map((state) => ({ ...state, notice_count: 0, last_notice_ms: null, told_session_ids: [] }));

export class WatchedRule {
  readonly #subjects = new Map<string, Subject>();

  /** @param onFull somebody could not be watched, or only after somebody else was forgotten */
  constructor(
    public settings: RuleSettings,
    private readonly onFull: () => void,
  ) {}

  agentIds(): string[] {
    return [...this.#subjects.keys()];
  }

  peek(agentId: string): Subject | undefined {
    return this.#subjects.get(agentId);
  }

  /** Null when every place is taken by something that fires. */
  subject(agentId: string, nowMs: number): Subject | null {
    const known = this.#subjects.get(agentId);
    if (known !== undefined) return known;
    if (this.#subjects.size >= SUBJECTS_PER_RULE_MAX && !this.#makeRoom(nowMs)) return null;
    const subject: Subject = { state: QUIET, tally: null, sessionId: null, toldSessionIds: NO_SESSIONS };
    this.#subjects.set(agentId, subject);
    return subject;
  }

  countCall(subject: Subject, steadyMs: number, failed: boolean): void {
    subject.tally ??= this.#newTally();
    subject.tally.add(steadyMs, failed);
  }

  /** Silently. @returns whether it fired */
  forget(agentId: string): boolean {
    const isFiring = (this.#subjects.get(agentId)?.state.sinceMs ?? null) !== null;
    this.#subjects.delete(agentId);
    return isFiring;
  }

  /** Of whom nothing would be lost. */
  forgetQuiet(agentId: string, nowMs: number, steadyMs: number): void {
    const subject = this.#subjects.get(agentId);
    if (subject === undefined) return;
    subject.state = asOf(nowMs, subject.state);
    if (!isForgettable(subject.state, this.settings.cooldown_s, nowMs)) return;
    if ((subject.tally?.read(steadyMs).callCount ?? 0) === 0) this.#subjects.delete(agentId);
  }

  /** @returns whether somebody whom it is not about any more had made it fire, or what fires counts as untold */
  change(settings: RuleSettings, steadyMs: number): boolean {
    const isOtherWindow = settings.window_s !== this.settings.window_s;
    const isNews = isUnheard(settings, this.settings);
    this.settings = settings;
    let hasChanged = false;
    for (const [agentId, subject] of this.#subjects) {
      if (isNews) hasChanged = this.#makeUntold(subject) || hasChanged;
      if (!isAbout(settings, agentId)) hasChanged = this.forget(agentId) || hasChanged;
      // Counts of one window say nothing about another.
      if (isOtherWindow && subject.tally !== null) subject.tally = this.#newTally(steadyMs);
    }
    return hasChanged;
  }

  /** @param sinceMs of the firing that is meant @returns undefined: it does not fire since then, and nothing changes */
  acknowledge(agentId: string, sinceMs: number, acknowledged: Acknowledgement | null): Subject | undefined {
    const subject = this.#subjects.get(agentId);
    if (subject?.state.sinceMs !== sinceMs) return undefined;
    subject.state = { ...subject.state, acknowledged };
    return subject;
  }

  /** What fires or cools. @param refusalsOf an agent's budgets that have refused a call */
  firing(nowMs: number, refusalsOf: (agentId: string) => readonly BudgetUse[]): FiringState[] {
    const firing: FiringState[] = [];
    for (const [agent_id, { state, toldSessionIds }] of this.#subjects) {
      if (isForgettable(state, this.settings.cooldown_s, nowMs)) continue;
      firing.push({
        agent_id,
        since_ms: state.sinceMs,
        notice_count: state.noticeCount,
        last_notice_ms: state.lastNoticeMs,
        told_session_ids: [...toldSessionIds],
        acknowledged: state.acknowledged,
        refusals: this.settings.type === 'budget' && state.sinceMs !== null ? refusalsOf(agent_id) : [],
      });
    }
    return firing;
  }

  restore(firing: readonly FiringState[], steadyMs: number): void {
    for (const { agent_id, told_session_ids, ...kept } of firing.slice(0, SUBJECTS_PER_RULE_MAX))
      this.#subjects.set(agent_id, {
        state: {
          sinceMs: kept.since_ms,
          noticeCount: kept.notice_count,
          lastNoticeMs: kept.last_notice_ms,
          acknowledged: kept.acknowledged,
        },
        tally: this.settings.type === 'error_rate' ? this.#newTally(steadyMs) : null,
        sessionId: null,
        toldSessionIds: new Set(told_session_ids),
      });
  }

  /** @returns whether anybody had been told */
  #makeUntold(subject: Subject): boolean {
    const wasTold = subject.state.lastNoticeMs !== null;
    const { sinceMs, acknowledged } = subject.state;
    subject.state = { ...QUIET, sinceMs, acknowledged };
    subject.toldSessionIds = NO_SESSIONS;
    return wasTold;
  }

  #makeRoom(nowMs: number): boolean {
    this.onFull();
    for (const [agentId, { state }] of this.#subjects)
      if (isForgettable(state, this.settings.cooldown_s, nowMs)) return this.#subjects.delete(agentId);
    return false;
  }

  /** @param sinceMs as `CallTally` has it */
  #newTally(sinceMs?: number): CallTally {
    return new CallTally((this.settings.window_s ?? RULE_WINDOW_S_DEFAULT.error_rate) * 1_000, sinceMs);
  }
}
