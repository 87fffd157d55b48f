/**
 * Whatever happens to agents, rules, the clock and the process: who is to be told of something is told, once, in its order, and
 * not before its time. The reference keeps everything that happened; of what it cannot know (a window of which a start has cut
 * off a part) it says `maybe`, and asks for nothing.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type AlertDelivery,
  type AlertType,
  alertRuleBodySchema,
  type ControlCommit,
  type ControlView,
  type ControlWrite,
  type DocumentWrite,
  type Incident,
  type ObservatoryError,
  sessionKey,
} from '#contracts';
import type { AlertEvent, RuleSettings } from '#domain/alerts';
import { buildSessionView, FakeTime, modelRuns, RACES_MS, turn } from '#testing';
import { ADMIN } from '../auth/access.fixture.js';
import { MemoryAlertStore, startAlerts, WEBHOOK } from './alerts.fixture.js';

const AGENTS = ['a', 'b'] as const;
type Agent = (typeof AGENTS)[number];
const SESSIONS: readonly { id: string; of: Agent }[] = [
  { id: 'a1', of: 'a' },
  { id: 'a2', of: 'a' },
  { id: 'b1', of: 'b' },
  // Both work in it.
  { id: 'ab', of: 'a' },
  { id: 'ab', of: 'b' },
];
const TYPES = [
  'kill_switch',
  'entropy_loop',
  'semantic_loop',
  'hitl_required',
  'spend',
  'error_rate',
  'agent_silent',
] as const satisfies AlertType[];

const WINDOW_S = 30;
const LOOP_IDLE_MS = 10 * 60_000;
/** Between two notices that bring news. */
const NEWS_GAP_MS = 30_000;
/** An older incident is not told by a start. */
const INCIDENT_TOLD_MS = 10 * 60_000;
const ERROR_CALLS_MIN = 10;
const SPENT_FROM_USD = 10;
const TICK_MS = 1_000;
/** A tick, and the part of one by which an act may lie beside it. */
const SLACK_MS = 2_000;

type Truth = 'yes' | 'no' | 'maybe';

/** With a process that may die between any two writes: from then on nothing of it reaches the disk. */
class DyingStore extends MemoryAlertStore {
  /** Writes until then; null: for ever. */
  writesLeft: number | null = null;
  isDead = false;
  /** Deliveries in the order in which they were, since somebody looked. */
  readonly stored: AlertDelivery[] = [];

  override async commitDocuments(write: DocumentWrite): Promise<void> {
    return this.#live(() => super.commitDocuments(write));
  }
  override async commitControl(write: ControlWrite): Promise<ControlCommit> {
    return this.#live(() => super.commitControl(write));
  }
  override async saveDelivery(delivery: AlertDelivery): Promise<number> {
    return this.#live(() => {
      if (delivery.seq === 0) this.stored.push(structuredClone(delivery));
      return super.saveDelivery(delivery);
    });
  }
  revive(): void {
    Object.assign(this, { writesLeft: null, isDead: false });
  }
  #live<Result>(write: () => Promise<Result>): Promise<Result> {
    if (this.writesLeft !== null) {
      if (this.writesLeft === 0) this.isDead = true;
      this.writesLeft -= 1;
    }
    return this.isDead ? new Promise(() => {}) : write();
  }
}

interface Session {
  id: string;
  of: Agent;
  isLooping: boolean;
  /** When it was last no more. */
  leftLoopMs: number;
  /** This process knows that of it whose step was the latest, and where people had heard of it. */
  isVague: boolean;
  /** It was in a loop when its last step came, or an operator ended it. */
  endedAs: 'last step' | 'terminated' | null;
  /** In its latest step, whatever came of it. */
  severity: 'loop' | 'normal';
  isPausedFor: boolean;
  seenWallMs: number;
  /** By the time that has passed; null: never, or not as far as this process knows. */
  seenMs: number | null;
  /** Of all that was seen. */
  seenNth: number;
  /** Latest semantic loop. */
  askedMs: number | null;
}

/** Of one rule and agent: what people heard. */
interface Told {
  isOpen: boolean;
  /** It may have ended without a word. */
  mayBeOver: boolean;
  /** A start may know nothing of the latest notice, nor that it is cooling. */
  mayBeUntold: boolean;
  recoveredMs: number;
  /** Channels that alone heard of the latest one that a process was not to tell whole. */
  halfToldTo: ReadonlySet<string>;
  /** Likewise of its end: where its rule comes to have none but these, it counts as told. */
  halfOverTo: ReadonlySet<string>;
  /** It counts as told: a start has found none in its rule but these, or knows nothing of its end. */
  mayBeOpen: boolean;
  /** By the wall clock, of the latest firing or repeat; a clock set back makes it now, at once or with the next tick. */
  lastWallMs: { min: number; max: number; said: number } | null;
  /** When its rule began or ceased to watch last, and what cooled until then. */
  unwatched: { last: Told['lastWallMs']; atMs: number };
  /** Somebody has it, or may have it: the process died, or it may have begun anew since. `atMs`: when it was taken. */
  inHand: { isSure: boolean; atMs: number } | null;
  /** Last: it is repeated with the next tick. */
  handedBackMs: number;
  /** Sessions named since they began. */
  sessionIds: Set<string>;
  /** Those that were named, and ended or began anew after. Infinity: they may count as told, for no tick or no later process knows. */
  endedMs: Map<string, number>;
  truth: Truth;
  /** Since when it is true, nothing keeps it back and nobody touched its rule. */
  dueSinceMs: number | null;
  /** Since when it is false, and nobody touched its rule. */
  overSinceMs: number | null;
  /** It was something other than true since the latest notice. */
  hadGap: boolean;
  /** Sessions of which people are to hear, since when. */
  newsSinceMs: Map<string, number>;
}
const untold = (): Told => ({
  isOpen: false,
  mayBeOver: false,
  mayBeUntold: false,
  recoveredMs: Number.NEGATIVE_INFINITY,
  halfToldTo: new Set(),
  halfOverTo: new Set(),
  mayBeOpen: false,
  lastWallMs: null,
  unwatched: { last: null, atMs: Number.NEGATIVE_INFINITY },
  inHand: null,
  handedBackMs: Number.NEGATIVE_INFINITY,
  sessionIds: new Set(),
  endedMs: new Map(),
  truth: 'no',
  dueSinceMs: null,
  overSinceMs: null,
  hadGap: false,
  newsSinceMs: new Map(),
});

const newSession = (one: { id: string; of: Agent }): Session => ({
  ...one,
  isLooping: false,
  leftLoopMs: Number.NEGATIVE_INFINITY,
  isVague: false,
  endedAs: null,
  severity: 'normal',
  isPausedFor: false,
  seenWallMs: 0,
  seenMs: null,
  seenNth: 0,
  askedMs: null,
});

class World {
  readonly store = new DyingStore();
  /** What has passed, with and without a process. */
  nowMs = 0;
  startedMs = 0;
  /** The latest process that died. */
  diedMs = Number.NEGATIVE_INFINITY;
  /** Those in the places of `SESSIONS`, and behind them all that an operator ended. */
  readonly sessions: Session[] = SESSIONS.map(newSession);
  readonly incidents = new Map<Agent, { atWallMs: number; isSurelyKnown: boolean }>();
  readonly calls = new Map<Agent, { atMs: number; failed: boolean }[]>(AGENTS.map((of) => [of, []]));
  readonly spentUsd = new Map<Agent, number>();
  /** Of whom this process looked at what they spent. */
  readonly spendSeen = new Set<Agent>();
  readonly hushedMs = new Map<Agent, number>();
  /** Whom an operator stopped. */
  readonly inactive = new Set<Agent>();
  #seenCount = 0;

  of(agent: Agent): Session[] {
    return this.sessions.filter(({ of }) => of === agent);
  }

  /** Of everybody who works in it. */
  named(id: string): Session[] {
    return this.sessions.filter((one) => one.id === id);
  }

  see(one: Session, nowWallMs: number): void {
    this.#seenCount += 1;
    Object.assign(one, { seenMs: this.nowMs, seenWallMs: nowWallMs, seenNth: this.#seenCount });
  }

  /** Nobody's that works in it. */
  endLoop(id: string): void {
    for (const one of this.named(id))
      if (one.isLooping) Object.assign(one, { isLooping: false, leftLoopMs: this.nowMs });
  }

  /**
   * Of those that work in one, a start finds who was seen last. Who was in its loop until a moment before a process died may be in the
   * next one, of somebody else: that it was over in between is on no disk.
   */
  forgetOthers(): void {
    for (const one of this.sessions) {
      const all = this.named(one.id);
      if (!all.some(({ seenNth }) => seenNth > one.seenNth)) continue;
      const hasJustLeft = one.leftLoopMs > this.diedMs - SLACK_MS;
      const isVague = one.isLooping || (hasJustLeft && all.some(({ isLooping }) => isLooping));
      Object.assign(one, { seenMs: null, isLooping: isVague, isVague });
    }
  }

  /** Sessions that are in it for certain. */
  newsOf(type: AlertType, agent: Agent): string[] {
    const isIn = ({ isLooping, isVague, isPausedFor, seenMs, askedMs }: Session): boolean => {
      if (type === 'entropy_loop')
        return isLooping && !isVague && this.nowMs - (seenMs ?? 0) < LOOP_IDLE_MS - SLACK_MS;
      if (type === 'semantic_loop')
        return (
          askedMs !== null && askedMs > this.startedMs && this.nowMs - askedMs < WINDOW_S * 1_000 - SLACK_MS
        );
      return type === 'hitl_required' && isPausedFor;
    };
    return this.of(agent)
      .filter(isIn)
      .map(({ id }) => id);
  }

  /** Sessions that are in it no more, for certain: the next time is news. */
  oldsOf(type: AlertType, agent: Agent, atMs = this.nowMs): string[] {
    return this.of(agent)
      .filter(({ isLooping, isVague, isPausedFor, seenMs, askedMs }) => {
        const heardMs = isVague ? this.startedMs : (seenMs ?? 0);
        if (type === 'entropy_loop') return !isLooping || atMs - heardMs >= LOOP_IDLE_MS;
        // Of what fires a start does not know when the latest was: it goes on for as long again.
        const begunMs = this.startedMs > 0 ? this.startedMs : Number.NEGATIVE_INFINITY;
        if (type === 'semantic_loop') return atMs - Math.max(askedMs ?? begunMs, begunMs) >= WINDOW_S * 1_000;
        return type !== 'hitl_required' || !isPausedFor;
      })
      .map(({ id }) => id);
  }

  truthOf({ type, threshold_usd }: RuleSettings, agent: Agent, watchedMs: number): Truth {
    const sessions = this.of(agent);
    switch (type) {
      case 'kill_switch': {
        const incident = this.incidents.get(agent);
        return incident === undefined ? 'no' : incident.isSurelyKnown ? 'yes' : 'maybe';
      }
      case 'entropy_loop':
        if (this.newsOf(type, agent).length > 0) return 'yes';
        return this.oldsOf(type, agent).length === sessions.length ? 'no' : 'maybe';
      case 'hitl_required':
        return sessions.some(({ isPausedFor }) => isPausedFor) ? 'yes' : 'no';
      case 'semantic_loop':
        if (this.newsOf(type, agent).length > 0) return 'yes';
        if (this.nowMs - this.startedMs < WINDOW_S * 1_000 && this.startedMs > 0) return 'maybe';
        return this.oldsOf(type, agent).length === sessions.length ? 'no' : 'maybe';
      case 'spend':
        if ((this.spentUsd.get(agent) ?? 0) < (threshold_usd ?? 0)) return 'no';
        return this.spendSeen.has(agent) ? 'yes' : 'maybe';
      case 'error_rate':
        return this.#errorTruth(agent, watchedMs);
      default:
        return this.#silenceTruth(agent, watchedMs);
    }
  }

  #errorTruth(agent: Agent, watchedMs: number): Truth {
    const windowMs = WINDOW_S * 1_000;
    const calls = (this.calls.get(agent) ?? []).filter(({ atMs }) => atMs >= watchedMs);
    const truths = new Set<Truth>();
    const cuts = [windowMs, windowMs - 1_000, ...calls.map(({ atMs }) => this.nowMs - atMs)];
    for (const cutMs of cuts.filter((ms) => ms <= windowMs && ms >= windowMs - 1_100)) {
      const counted = calls.filter(({ atMs }) => this.nowMs - atMs < cutMs);
      const share = counted.filter(({ failed }) => failed).length / counted.length;
      if (counted.length === 0 || share < 0.5)
        truths.add(counted.length < ERROR_CALLS_MIN && this.nowMs - watchedMs < windowMs ? 'maybe' : 'no');
      else truths.add(counted.length >= ERROR_CALLS_MIN ? 'yes' : 'maybe');
    }
    return truths.size === 1 ? ([...truths][0] as Truth) : 'maybe';
  }

  #silenceTruth(agent: Agent, watchedMs: number): Truth {
    const seen = this.of(agent).filter(({ seenMs }) => seenMs !== null);
    const latestMs = Math.max(...seen.map(({ seenMs }) => seenMs ?? 0));
    const windowMs = WINDOW_S * 1_000;
    if (seen.length === 0 || this.of(agent).some(({ isPausedFor }) => isPausedFor)) return 'maybe';
    const latest = seen.filter(({ seenMs }) => latestMs - (seenMs ?? 0) <= 1);
    // An operator ended what it did last.
    if (latest.every(({ endedAs }) => endedAs === 'terminated')) return 'no';
    if (latest.some(({ endedAs }) => endedAs === 'terminated')) return 'maybe';
    if (this.incidents.has(agent) || this.inactive.has(agent)) return 'no';
    if (this.nowMs - latestMs < windowMs - SLACK_MS) return 'no';
    const fromMs = Math.max(latestMs, watchedMs, this.startedMs, this.hushedMs.get(agent) ?? 0);
    return this.nowMs - fromMs >= windowMs + SLACK_MS ? 'yes' : 'maybe';
  }
}

type Patch = Partial<
  Pick<RuleSettings, 'enabled' | 'cooldown_s' | 'repeat_s' | 'notify_recovery' | 'agent_id'> & {
    muteS: number | null;
    spentFromUsd: number;
    channels: readonly number[];
  }
>;
type Act =
  | { do: 'incident' | 'reactivate' | 'stop' | 'let run'; agent: Agent }
  | { do: 'step'; session: number; isLooping: boolean; isLast: boolean }
  | { do: 'label' | 'ask' | 'answer' | 'loop' | 'terminate'; session: number }
  | { do: 'calls'; agent: Agent; count: number; failed: boolean }
  | { do: 'spend'; agent: Agent; usd: number }
  | { do: 'wait'; ms: number }
  | { do: 'clock'; ms: number }
  | { do: 'patch'; rule: number; patch: Patch }
  | { do: 'acknowledge' | 'hand back'; rule: number; agent: Agent }
  | { do: 'replace'; rule: number }
  | { do: 'restart'; downMs: number }
  | { do: 'die'; writes: number; downMs: number };

const agent = fc.constantFrom(...AGENTS);
const session = fc.nat({ max: SESSIONS.length - 1 });
const rule = fc.nat({ max: TYPES.length - 1 });
const settings = fc.record({
  cooldown_s: fc.constantFrom(0, 0, 5, 40),
  repeat_s: fc.constantFrom(null, null, 60, 90),
  notify_recovery: fc.constantFrom(true, true, true, false),
  agent_id: fc.constantFrom(null, null, null, ...AGENTS),
  channels: fc.constantFrom([0], [0], [0, 1], []),
});
const patch = fc.oneof(
  fc.record({ muteS: fc.constantFrom(null, 3, 30) }),
  fc.record({ enabled: fc.boolean() }),
  fc.record({ cooldown_s: fc.constantFrom(0, 5, 40) }),
  fc.record({ repeat_s: fc.constantFrom(null, 60, 90) }),
  fc.record({ notify_recovery: fc.boolean() }),
  fc.record({ agent_id: fc.constantFrom(null, ...AGENTS) }),
  fc.record({ spentFromUsd: fc.constantFrom(5, SPENT_FROM_USD, 15) }),
  fc.record({ channels: fc.constantFrom([0], [1], [0, 1], []) }),
);
const waitMs = fc.constantFrom(100, 700, 1_000, 3_000, 7_000, 15_000, 31_000, 62_000);
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 9, arbitrary: fc.record({ do: fc.constantFrom('incident', 'reactivate'), agent }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('stop', 'let run'), agent }) },
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constant('step'),
      session,
      isLooping: fc.boolean(),
      isLast: fc.constantFrom(false, false, true),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('terminate'), session }) },
  { weight: 15, arbitrary: fc.record({ do: fc.constantFrom('label', 'ask', 'answer', 'loop'), session }) },
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constant('calls'),
      agent,
      count: fc.constantFrom(1, 4, 6, 10, 11),
      failed: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('spend'), agent, usd: fc.constantFrom(0, 5, 10, 15) }),
  },
  { weight: 27, arbitrary: fc.record({ do: fc.constant('wait'), ms: waitMs }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('wait'),
      ms: fc.constantFrom(LOOP_IDLE_MS - 5_000, LOOP_IDLE_MS + 5_000),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('clock'),
      ms: fc.constantFrom(-3_600_000, -20_000, -400, 400, 20_000, 3_600_000),
    }),
  },
  { weight: 12, arbitrary: fc.record({ do: fc.constant('patch'), rule, patch }) },
  {
    weight: 9,
    arbitrary: fc.record({ do: fc.constantFrom('acknowledge', 'acknowledge', 'hand back'), rule, agent }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('replace'), rule }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('restart'), downMs: fc.constantFrom(0, 500, 12_000) }),
  },
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constant('die'),
      writes: fc.nat({ max: 4 }),
      downMs: fc.constantFrom(0, 500, 12_000),
    }),
  },
) as fc.Arbitrary<Act>;

interface Watched {
  /** As it is in force; null: it was removed. */
  settings: RuleSettings | null;
  /** Whom it tells. */
  channelIds: readonly string[];
  /** When they were changed last. */
  channelsSetMs: number;
  told: Map<Agent, Told>;
  /** Since when it counts, by agent. */
  watchedMs: Map<Agent, number>;
}

class Run {
  readonly world = new World();
  alerts!: Awaited<ReturnType<typeof startAlerts>>;
  time = new FakeTime();
  readonly rules = new Map<string, Watched>();
  /** By place in `TYPES`. */
  readonly ruleIds: string[] = [];
  readonly channelIds: string[] = [];
  #incidentCount = 0;
  #downMs = 0;
  /** When somebody set the clock last. */
  #setMs = Number.NEGATIVE_INFINITY;
  readonly trail: string[] = [];

  get wallMs(): number {
    return this.time.nowMs();
  }

  async begin(
    given: readonly (typeof settings extends fc.Arbitrary<infer One> ? One : never)[],
  ): Promise<void> {
    await this.#start();
    for (const url of ['https://one.example.org', 'https://two.example.org'])
      this.channelIds.push(
        (await this.alerts.area.channels.create(ADMIN, { ...WEBHOOK, url })).channel.channel_id,
      );
    for (const { rule_id } of this.alerts.area.rules.list('default'))
      await this.alerts.area.rules.remove(ADMIN, rule_id);
    for (const [at, one] of given.entries()) await this.#create(at, one);
    await turn();
  }

  async #create(at: number, { channels, ...given }: { channels: readonly number[] } & Partial<RuleSettings>) {
    const type = TYPES[at] as AlertType;
    const body = alertRuleBodySchema.parse({
      name: `${type} ${this.rules.size}`,
      type,
      window_s: WINDOW_S,
      threshold_usd: type === 'spend' ? SPENT_FROM_USD : null,
    });
    const channel_ids = channels.map((one) => this.channelIds[one] ?? '');
    const made = this.alerts.area.rules.create(ADMIN, { ...body, ...given, channel_ids });
    const shown = await Promise.race([made, this.#gone()]);
    if (shown === null) return;
    this.ruleIds[at] = shown.rule_id;
  }

  /** The process died over it. */
  async #gone(): Promise<null> {
    for (let n = 0; n < 8; n += 1) await turn();
    return null;
  }

  async #start(): Promise<void> {
    const { world } = this;
    world.forgetOthers();
    const views = world.sessions
      .filter(({ seenMs }) => seenMs !== null)
      .map(({ id, of, severity, endedAs, seenWallMs, isPausedFor }) => ({
        ...buildSessionView({ session_id: id, agent_id: of, severity }),
        ended: endedAs === 'last step',
        last_seen_ms: seenWallMs,
        control: this.#control(of, isPausedFor, endedAs === 'terminated'),
      }));
    const paused = world.sessions
      .filter(({ isPausedFor, seenMs }) => isPausedFor && seenMs === null)
      .map(({ id, of }) => [sessionKey('default', id), this.#control(of, true)] as const);
    world.startedMs = world.nowMs;
    world.spendSeen.clear();
    for (const one of world.sessions)
      if (one.seenMs !== null) one.seenMs = world.nowMs - Math.max(0, this.wallMs - one.seenWallMs);
    for (const incident of world.incidents.values())
      if (this.wallMs - incident.atWallMs > INCIDENT_TOLD_MS - SLACK_MS) incident.isSurelyKnown = false;
    this.alerts = await startAlerts({
      store: world.store,
      time: this.time,
      sessions: views,
      paused: paused.map(([key, control]) => [key, control]),
      inactive: world.inactive,
      spentUsd: (agentId) => world.spentUsd.get(agentId as Agent) ?? 0,
    });
    await turn();
  }

  #control(of: Agent, isPausedFor: boolean, isTerminated = false): ControlView {
    const { control } = buildSessionView();
    if (isTerminated) return { ...control, state: 'terminated', asked_by: [] };
    return isPausedFor
      ? { ...control, state: 'paused', asked_by: [of], since_ms: this.wallMs }
      : { ...control, state: 'active', asked_by: [] };
  }

  async apply(act: Act): Promise<void> {
    const { world, time } = this;
    this.trail.push(JSON.stringify(act));
    const { monitor, sessions } = this.alerts.area;
    const note = (event: AlertEvent) => monitor.note(event);
    const fact = (agent_id: string, session_id: string | null = null) => ({
      tenant_id: 'default',
      agent_id,
      session_id,
      at_ms: time.nowMs(),
    });
    switch (act.do) {
      case 'incident': {
        if (world.incidents.has(act.agent)) break;
        this.#incidentCount += 1;
        const incident_id = `inc-${this.#incidentCount}`;
        world.incidents.set(act.agent, { atWallMs: this.wallMs, isSurelyKnown: true });
        const stored = { incident_id, agent_id: act.agent, session_id: `${act.agent}1`, threshold: 10 };
        const incident = { ...stored, at_ms: this.wallMs, breakdown: { score: 13 } } as Incident;
        world.store.incidents.push({ tenant_id: 'default', incident });
        note({
          kind: 'incident',
          ...fact(act.agent, `${act.agent}1`),
          incident_id,
          score: 13,
          threshold: 10,
        });
        break;
      }
      case 'reactivate': {
        if (!world.incidents.delete(act.agent)) break;
        world.hushedMs.set(act.agent, world.nowMs);
        const at = world.store.incidents.findIndex(({ incident }) => incident.agent_id === act.agent);
        world.store.incidents.splice(at, 1);
        note({ kind: 'reactivated', ...fact(act.agent) });
        for (const { settings, told } of this.rules.values())
          if (settings?.type === 'kill_switch') (told.get(act.agent) as Told).lastWallMs = null;
        break;
      }
      case 'stop':
        world.inactive.add(act.agent);
        break;
      case 'let run':
        if (world.inactive.delete(act.agent)) world.hushedMs.set(act.agent, world.nowMs);
        break;
      case 'step': {
        const one = world.sessions[act.session] as Session;
        const severity = act.isLooping ? 'loop' : 'normal';
        const { isLast: ended } = act;
        world.see(one, this.wallMs);
        const isLooping = act.isLooping && !ended;
        // Any step takes the label from all that carry it.
        if (!isLooping) world.endLoop(one.id);
        Object.assign(one, { severity, isLooping, isVague: false, endedAs: ended ? 'last step' : null });
        note({ kind: 'step', ...fact(one.of, one.id), severity, ended });
        break;
      }
      case 'label': {
        const one = world.sessions[act.session] as Session;
        world.endLoop(one.id);
        for (const each of world.named(one.id)) each.severity = 'normal';
        note({ kind: 'severity', ...fact(one.of, one.id), severity: 'normal' });
        break;
      }
      case 'ask':
      case 'answer': {
        const one = world.sessions[act.session] as Session;
        if (world.named(one.id).length > 1) break;
        if (one.isPausedFor && act.do === 'answer') world.hushedMs.set(one.of, world.nowMs);
        one.isPausedFor = act.do === 'ask';
        sessions.noteControl(sessionKey('default', one.id), this.#control(one.of, one.isPausedFor));
        break;
      }
      case 'terminate': {
        const one = world.sessions[act.session] as Session;
        if (one.isPausedFor) world.hushedMs.set(one.of, world.nowMs);
        for (const each of world.named(one.id)) {
          Object.assign(each, { isLooping: false, isPausedFor: false, endedAs: 'terminated' });
          world.sessions[world.sessions.indexOf(each)] = newSession({ id: `${one.id}x`, of: each.of });
          world.sessions.push(each);
        }
        sessions.noteControl(sessionKey('default', one.id), this.#control(one.of, false, true));
        break;
      }
      case 'loop': {
        const one = world.sessions[act.session] as Session;
        one.askedMs = world.nowMs;
        const figures = { similarity: 0.97, threshold: 0.95, occurrence: 2, paused: false };
        note({ kind: 'semantic_loop', ...fact(one.of, one.id), ...figures });
        break;
      }
      case 'calls':
        for (let n = 0; n < act.count && !world.store.isDead; n += 1) {
          this.#call(act.agent, act.failed);
          await turn();
          if (!world.store.isDead) this.#look(0);
        }
        break;
      case 'spend':
        world.spentUsd.set(act.agent, act.usd);
        this.#call(act.agent, false);
        break;
      case 'wait':
        for (let leftMs = act.ms; leftMs > 0; ) {
          const ms = Math.min(this.#toTickMs, leftMs);
          leftMs -= ms;
          await this.#pass(ms);
        }
        break;
      case 'clock':
        time.setWallClock(act.ms);
        this.#setMs = world.nowMs;
        for (const { told } of this.rules.values())
          for (const one of told.values()) {
            if (one.lastWallMs !== null) one.lastWallMs.min = Math.min(one.lastWallMs.min, this.wallMs);
            // Several of them may make a shift.
            if (one.inHand !== null && act.ms >= 3_600_000) one.inHand.isSure = false;
          }
        break;
      case 'patch': {
        const ruleId = this.ruleIds[act.rule] ?? '';
        const { muteS, channels, spentFromUsd, ...given } = act.patch;
        const isSpend = TYPES[act.rule] === 'spend' && spentFromUsd !== undefined;
        const body = {
          ...given,
          ...(muteS === undefined ? {} : { muted_until_ms: muteS && this.wallMs + muteS * 1_000 }),
          ...(isSpend && { threshold_usd: spentFromUsd }),
          ...(channels && { channel_ids: channels.map((one) => this.channelIds[one] ?? '') }),
        };
        await Promise.race([this.alerts.area.rules.update(ADMIN, ruleId, body), this.#gone()]);
        break;
      }
      case 'acknowledge':
      case 'hand back': {
        const ruleId = this.ruleIds[act.rule] ?? '';
        const body = { agent_id: act.agent, acknowledged: act.do === 'acknowledge' };
        const taken = this.alerts.area.rules.acknowledge(ADMIN, ruleId, body);
        const isFiring = (error: ObservatoryError) => must(error.code === 'alert_not_firing', error.code);
        const shown = await Promise.race([taken.catch(isFiring), this.#gone()]);
        const told = this.rules.get(ruleId)?.told.get(act.agent);
        if (!shown || !told) break;
        told.inHand = body.acknowledged ? { isSure: true, atMs: world.nowMs } : null;
        if (!body.acknowledged) told.handedBackMs = world.nowMs;
        break;
      }
      case 'replace': {
        const removed = this.alerts.area.rules.remove(ADMIN, this.ruleIds[act.rule] ?? '').then(() => true);
        if (await Promise.race([removed, this.#gone()])) await this.#create(act.rule, { channels: [0] });
        break;
      }
      case 'restart':
        await Promise.race([this.alerts.area.stop(), this.#gone()]);
        await this.#next(act.downMs);
        break;
      case 'die':
        world.store.writesLeft = act.writes;
        this.#downMs = act.downMs;
        break;
    }
    for (let n = 0; n < 4; n += 1) await turn();
    if (world.store.isDead) await this.#next(this.#downMs);
    this.#look(0);
    // No two acts in one moment.
    await this.#pass(1);
  }

  /** Until the monitor looks at the time next. */
  get #toTickMs(): number {
    const { nowMs, startedMs } = this.world;
    return TICK_MS - ((nowMs - startedMs) % TICK_MS);
  }

  /** Not beyond a tick: what it tells is heard in its moment, since what held then may hold no more a millisecond later. */
  async #pass(ms: number): Promise<void> {
    const { world } = this;
    await this.time.pass(ms);
    world.nowMs += ms;
    const { isDead } = world.store;
    if (isDead) await this.#next(this.#downMs);
    this.#look(isDead ? 0 : ms);
  }

  #call(agent: Agent, failed: boolean): void {
    const { world, time } = this;
    const one = world.of(agent)[0] as Session;
    world.see(one, this.wallMs);
    world.calls.get(agent)?.push({ atMs: world.nowMs, failed });
    world.spendSeen.add(agent);
    const fact = { tenant_id: 'default', agent_id: agent, session_id: one.id, at_ms: time.nowMs() };
    this.alerts.area.monitor.note({ kind: 'call_began', ...fact });
    this.alerts.area.monitor.note({ kind: 'call', ...fact, failed });
    // It is a step of its session too.
    const severity = one.isLooping ? 'loop' : 'normal';
    Object.assign(one, { severity, endedAs: null });
    this.alerts.area.monitor.note({ kind: 'step', ...fact, severity, ended: false });
  }

  /** The next process. */
  async #next(downMs: number): Promise<void> {
    const { world } = this;
    if (world.store.isDead) world.diedMs = world.nowMs;
    this.#listen(0);
    world.store.revive();
    // What the last one did was before.
    const passedMs = downMs + 1;
    this.time = new FakeTime(this.time.nowMs() + passedMs);
    world.nowMs += passedMs;
    await this.#start();
    for (let n = 0; n < 4; n += 1) await turn();
    const listed = this.alerts.area.rules.list('default');
    for (const [at, type] of TYPES.entries()) {
      const rule = listed.filter((one) => one.type === type).at(-1);
      if (rule?.rule_id.startsWith('rule_')) this.ruleIds[at] = rule.rule_id;
      else await this.#create(at, { channels: [0] });
    }
    for (const [ruleId, rule] of this.rules)
      for (const agent of AGENTS) {
        const told = rule.told.get(agent) as Told;
        // It is kept with the next tick.
        if (told.inHand !== null && told.inHand.atMs > world.diedMs - SLACK_MS) told.inHand.isSure = false;
        for (const [id, endedMs] of told.endedMs)
          if (endedMs > world.diedMs - SLACK_MS) told.endedMs.set(id, Infinity);
        rule.watchedMs.set(agent, world.nowMs);
        // A notice of that moment is not on disk for a channel that came after it, and counts as untold.
        if (rule.channelsSetMs > world.diedMs - SLACK_MS)
          Object.assign(told, { mayBeOver: true, mayBeUntold: true });
        Object.assign(told, { dueSinceMs: null, overSinceMs: null, newsSinceMs: new Map() });
        const { channel_ids } = listed.find(({ rule_id }) => rule_id === ruleId) ?? {
          channel_ids: rule.channelIds,
        };
        const isAll = (half: ReadonlySet<string>) =>
          half.size > 0 && channel_ids.every((one) => half.has(one));
        const isHalfAll = isAll(told.halfToldTo);
        told.mayBeOver ||= isAll(told.halfOverTo);
        told.mayBeOpen ||= isHalfAll || (told.mayBeUntold && told.recoveredMs > world.diedMs - SLACK_MS);
        // A process that died in the moment in which its rule ceased to watch may leave it cooling.
        const { last: before, atMs } = told.unwatched;
        if (before !== null && atMs > world.diedMs - SLACK_MS)
          told.lastWallMs ??= { ...before, min: Number.NEGATIVE_INFINITY };
        // On disk is when it was said; it counts as now again if the clock was set back.
        const { lastWallMs: last } = told;
        if (last !== null) last.max = Math.max(last.max, Math.min(last.said, this.wallMs + 1_000));
      }
  }

  /** What was told since the last look, and what should have been. @param passedMs before this look, and after the last one */
  #look(passedMs: number): void {
    this.#listen(passedMs);
    for (const rule of this.rules.values()) this.#requireTold(rule, passedMs);
    must(this.alerts.lines.length === 0, JSON.stringify(this.alerts.lines));
  }

  #listen(passedMs: number): void {
    if (passedMs === 0) this.#readRules();
    for (const rule of this.rules.values()) this.#readTruths(rule, passedMs);
    const stored = this.world.store.stored.splice(0);
    const notices = new Map(stored.map(({ notice }) => [notice.notice_id, notice]));
    for (const [id, notice] of notices) {
      const sessions = notice.detail.newest_session_ids ?? '';
      this.trail.push(
        `    ${notice.type} ${notice.phase} ${notice.agent_id} ${sessions} ${this.world.nowMs}`,
      );
      const told = stored.flatMap((row) => (row.notice.notice_id === id ? row.channel_id : []));
      const toldTo = new Set(told);
      const rule = this.rules.get(notice.rule_id ?? '');
      if (rule?.channelIds.every((channelId) => toldTo.has(channelId)) !== false) this.#hear(notice);
      // The process died before it was on disk for each channel: it counts as untold.
      else if (notice.phase !== 'acknowledged') {
        const half = notice.phase === 'recovered' ? { halfOverTo: toldTo } : { halfToldTo: toldTo };
        Object.assign(rule.told.get(notice.agent_id as Agent) as Told, half);
      }
    }
  }

  /** As they are in force. */
  #readRules(): void {
    const listed = new Map(this.alerts.area.rules.list('default').map((rule) => [rule.rule_id, rule]));
    for (const [id, one] of listed)
      if (!this.rules.has(id) && id.startsWith('rule_'))
        this.rules.set(id, {
          settings: one,
          channelIds: one.channel_ids,
          channelsSetMs: Number.NEGATIVE_INFINITY,
          told: new Map(AGENTS.map((agent) => [agent, untold()])),
          watchedMs: new Map(AGENTS.map((agent) => [agent, this.world.nowMs])),
        });
    for (const [id, rule] of this.rules) {
      const before = rule.settings;
      const after = listed.get(id) ?? null;
      // One that was removed, or tells nobody any more, closes what it told those whom it had.
      rule.channelIds = after?.enabled === true ? after.channel_ids : rule.channelIds;
      rule.settings = after;
      if (before === null || JSON.stringify(settingsOf(before)) === JSON.stringify(settingsOf(after)))
        continue;
      if (String(before.channel_ids) !== String(after?.channel_ids)) rule.channelsSetMs = this.world.nowMs;
      for (const agent of AGENTS) {
        const told = rule.told.get(agent) as Told;
        Object.assign(told, { dueSinceMs: null, overSinceMs: null, newsSinceMs: new Map() });
        const wasWatched = isWatched(before, agent);
        if (wasWatched !== isWatched(after, agent)) {
          rule.watchedMs.set(agent, this.world.nowMs);
          told.unwatched = { last: told.lastWallMs ?? told.unwatched.last, atMs: this.world.nowMs };
          told.lastWallMs = null;
          told.hadGap = true;
          // Nobody closes it, and nobody goes on with it.
          if (wasWatched && !before.notify_recovery) told.mayBeOver = true;
        }
        const isUnheard =
          after !== null &&
          after.channel_ids.length > 0 &&
          !after.channel_ids.some((one) => before.channel_ids.includes(one));
        if (isUnheard || after?.channel_ids.length === 0)
          rule.told.set(agent, { ...untold(), inHand: told.inHand });
      }
    }
  }

  #readTruths(rule: Watched, passedMs: number): void {
    const { world } = this;
    const { settings } = rule;
    for (const agent of AGENTS) {
      const told = rule.told.get(agent) as Told;
      const isInForce = settings !== null && isWatched(settings, agent);
      told.truth = isInForce ? world.truthOf(settings, agent, rule.watchedMs.get(agent) ?? 0) : 'no';
      if (told.truth !== 'yes') {
        told.hadGap = true;
        if (told.inHand !== null) told.inHand.isSure = false;
        if (settings !== null && !settings.notify_recovery) told.mayBeOver = true;
      }
      if (told.truth === 'maybe') told.mayBeOver ||= settings?.notify_recovery === false;
      if (told.truth === 'no') told.overSinceMs ??= world.nowMs;
      else told.overSinceMs = null;
      const isKept = settings === null || this.#isMuted(settings) || this.#isCooling(settings, told, 'max');
      if (told.truth === 'yes' && !isKept) told.dueSinceMs ??= world.nowMs;
      else told.dueSinceMs = null;
      const current = new Set(
        told.truth === 'yes' && settings !== null ? world.newsOf(settings.type, agent) : [],
      );
      for (const id of told.newsSinceMs.keys()) if (!current.has(id)) told.newsSinceMs.delete(id);
      for (const id of current) if (!told.newsSinceMs.has(id)) told.newsSinceMs.set(id, world.nowMs);
      // It has cooled down, and is forgotten: whoever sets the clock back makes it cool no more.
      if (
        (!told.isOpen || told.mayBeOver) &&
        told.lastWallMs !== null &&
        settings &&
        !this.#isCooling(settings, told, 'min')
      )
        told.lastWallMs.min = Number.NEGATIVE_INFINITY;
      if (told.lastWallMs !== null && passedMs > 0 && this.#toTickMs === TICK_MS)
        told.lastWallMs.max = Math.min(told.lastWallMs.max, this.wallMs);
    }
  }

  #hear({ rule_id, agent_id, phase, detail, type, at_ms }: AlertDelivery['notice']): void {
    const rule = this.rules.get(rule_id ?? '');
    const told = rule?.told.get(agent_id as Agent);
    if (rule === undefined || told === undefined) throw new Error(`${phase} of an unknown rule ${type}`);
    const { settings } = rule;
    const what = `${type} ${agent_id}: ${phase}`;
    if (phase === 'acknowledged') {
      must(told.isOpen || told.mayBeOpen || told.halfToldTo.size > 0, `${what} of something told`);
      must(settings === null || !this.#isMuted(settings), `${what}: is muted`);
      return;
    }
    if (phase === 'recovered') {
      must(told.isOpen || told.mayBeOpen, `${what} is said of something`);
      must(told.hadGap, `${what} is true`);
      Object.assign(told, { isOpen: false, mayBeOver: false, inHand: null, sessionIds: new Set() });
      Object.assign(told, { halfOverTo: new Set() });
      Object.assign(told, { halfToldTo: new Set(), mayBeOpen: false, recoveredMs: this.world.nowMs });
      return;
    }
    must(settings !== null && isWatched(settings, agent_id as Agent), `${what}: is watched`);
    if (settings === null) return;
    must(told.truth !== 'no', `${what} does not hold`);
    const beginsAnew = phase === 'firing' && told.mayBeUntold;
    must(beginsAnew || !this.#isCooling(settings, told, 'min'), `${what}: is cooling`);
    const named = Array.isArray(detail.newest_session_ids) ? detail.newest_session_ids : [];
    if (phase === 'repeat') {
      must(told.isOpen || told.mayBeOpen, `${what} of something told`);
      const sinceMs = this.wallMs - (told.lastWallMs?.min ?? 0);
      must(sinceMs >= (settings.repeat_s ?? Infinity) * 1_000, `${what}: too soon`);
      must(!told.inHand?.isSure, `${what}: somebody has it in hand`);
    } else if (told.isOpen && !told.mayBeOver) {
      const isNews = named.some((id) => !told.sessionIds.has(id));
      must(isNews, `${what} again, without news`);
    }
    if (phase === 'firing' && (told.mayBeOver || !told.isOpen)) told.sessionIds = new Set();
    for (const id of named) told.sessionIds.add(id);
    const lastWallMs = { min: Math.min(at_ms, this.wallMs), max: this.wallMs, said: at_ms };
    Object.assign(told, { isOpen: true, mayBeOver: false, mayBeUntold: false, lastWallMs });
    told.halfOverTo = new Set();
    Object.assign(told, { hadGap: false, dueSinceMs: null, halfToldTo: new Set(), mayBeOpen: false });
  }

  #requireTold(rule: Watched, passedMs: number): void {
    const { world } = this;
    const { settings } = rule;
    if (settings?.channel_ids.length === 0) return;
    for (const agent of AGENTS) {
      const told = rule.told.get(agent) as Told;
      const what = `${settings?.type} of ${agent}`;
      const isLasting = (sinceMs: number | null | undefined): boolean =>
        typeof sinceMs === 'number' && world.nowMs - sinceMs >= SLACK_MS;
      // What time ends is forgotten with the next tick: one that begins anew before may count as told.
      const tickMs = world.nowMs - ((world.nowMs - world.startedMs) % TICK_MS);
      const forgotten = settings === null ? [] : world.oldsOf(settings.type, agent, tickMs);
      for (const id of settings === null ? [] : world.oldsOf(settings.type, agent))
        if (told.sessionIds.delete(id) || told.endedMs.get(id) === Infinity)
          told.endedMs.set(id, forgotten.includes(id) ? world.nowMs : Infinity);
      if (isLasting(told.overSinceMs) && told.isOpen && !told.mayBeOver && passedMs > 0)
        must(false, `${what}: is over, and nobody was told`);
      if (settings === null || !isLasting(told.dueSinceMs) || passedMs === 0) continue;
      must(told.isOpen || told.mayBeOpen, `${what}: is to be told`);
      if (!isLasting(this.#setMs)) continue;
      const sinceMs = this.wallMs - (told.lastWallMs?.max ?? 0);
      const isInNobodysHand = told.inHand === null && isLasting(told.handedBackMs);
      if (settings.repeat_s !== null && told.lastWallMs !== null && !told.mayBeOver && isInNobodysHand)
        must(
          sinceMs < Math.max(settings.repeat_s, settings.cooldown_s) * 1_000 + SLACK_MS,
          `${what}: is to be repeated`,
        );
      for (const [id, fromMs] of told.newsSinceMs)
        if (isLasting(fromMs) && sinceMs >= NEWS_GAP_MS + SLACK_MS && !told.mayBeOver)
          must(
            told.sessionIds.has(id) || told.endedMs.get(id) === Infinity,
            `${what}: nobody heard of ${id}`,
          );
    }
  }

  #isMuted({ muted_until_ms }: RuleSettings): boolean {
    return muted_until_ms !== null && this.wallMs < muted_until_ms;
  }

  #isCooling({ cooldown_s }: RuleSettings, { lastWallMs }: Told, which: 'min' | 'max'): boolean {
    return lastWallMs !== null && this.wallMs - lastWallMs[which] < cooldown_s * 1_000;
  }

  /** Everything ends: nothing is kept of anybody. */
  async end(): Promise<void> {
    this.world.store.writesLeft = null;
    for (const agent of AGENTS) {
      await this.apply({ do: 'reactivate', agent });
      await this.apply({ do: 'spend', agent, usd: 0 });
    }
    for (const session of SESSIONS.keys()) {
      await this.apply({ do: 'label', session });
      await this.apply({ do: 'answer', session });
    }
    for (const ruleId of this.ruleIds.keys())
      if (TYPES[ruleId] === 'agent_silent')
        await this.apply({ do: 'patch', rule: ruleId, patch: { enabled: false } });
    await this.apply({ do: 'wait', ms: 2 * WINDOW_S * 1_000 });
    await this.apply({ do: 'wait', ms: 45_000 });
    const kept = [...this.world.store.docs.values()].filter(({ id }) => id.startsWith('firing:'));
    const states = kept.flatMap(({ body }) => (body as { states: { since_ms: number | null }[] }).states);
    expect(states.filter(({ since_ms }) => since_ms !== null)).toEqual([]);
    expect(this.alerts.area.rules.list('default').flatMap(({ firing }) => firing)).toEqual([]);
    await this.alerts.area.stop();
  }
}

function must(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new Error(otherwise);
}

const isWatched = (rule: RuleSettings | null, agent: Agent): boolean =>
  rule?.enabled === true && (rule.agent_id === null || rule.agent_id === agent);

const settingsOf = (rule: object | null) =>
  rule && { ...rule, firing: null, firing_count: null, firing_since_ms: null };

it(
  'are told once, in time and in order, whatever happens to agents, rules, the clock and the process',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(...TYPES.map(() => settings)),
        fc.array(act, { maxLength: 40, size: 'max' }),
        async (given, acts) => {
          const run = new Run();
          try {
            await run.begin(given);
            for (const one of acts) await run.apply(one);
            await run.end();
          } catch (error) {
            (error as Error).message += `\n${run.trail.join('\n')}`;
            throw error;
          }
        },
      ),
      modelRuns(20),
    );
  },
  RACES_MS,
);
