/**
 * What a semantic loop is and what follows it, as its model has it: every prompt is kept with what it says, and each rule is one line
 * over that. The texts are few, so that it is known by hand which of them are near, and which say the same.
 */
import {
  agentScope,
  type SemanticLoopEvent,
  type SemanticLoopPolicy,
  type SessionKey,
  type SidecarFailureReason,
  sessionKey,
  sessionTopic,
  TOPICS,
} from '#contracts';
import { HOUR_MS, MINUTE_MS } from '#kernel';
import { ModelTime } from './model-time.js';

export const TIMEOUT_MS = 50;
const HISTORY_COUNT = 5;
/** Of a prompt, a ladder and what is known of an asker. */
const KNOWN_MS = HOUR_MS;
const UNANSWERED_KNOWN_MS = 10 * MINUTE_MS;
const ALERT_OVER_MS = 10 * MINUTE_MS;
/** Room for all that the model's tenants can have, and for a few of a tenant that wants it all. */
export const SCOPES_MAX = 20;
export const LADDERS_MAX = 10;

/**
 * Texts are near, by the similarity of 0.95, up to an angle of 25.8 degrees. The gate tells those that say another thing apart by a
 * number or a "not", and lets pass what says the same.
 */
export const TEXTS = {
  parcel: { words: 'Where is my parcel?', degrees: 0, says: 'parcel' },
  package: {
    words: 'Has anybody found out what happened to the package I am waiting for?',
    degrees: 18,
    says: 'parcel',
  },
  delivery: {
    words: 'Tell me how far the delivery of my order has come by now',
    degrees: 39,
    says: 'parcel',
  },
  parcel12: { words: 'Where is my parcel 12?', degrees: 4, says: 'parcel 12' },
  package12: {
    words: 'Has anybody found out what happened to package 12 I am waiting for?',
    degrees: 27.5,
    says: 'parcel 12',
  },
  not: { words: 'Where is my parcel not?', degrees: 9, says: 'not' },
  pay: { words: 'How do I pay for it?', degrees: 180, says: 'pay' },
  open: { words: 'When does the shop open?', degrees: 120, says: 'open' },
  refund: { words: 'Who gives me my money back?', degrees: 240, says: 'refund' },
  unfit: { words: 'qwx zrt plk mnb', degrees: null, says: 'nothing' },
  short: { words: 'yes please', degrees: 0, says: 'parcel' },
} as const;
export type Text = keyof typeof TEXTS;
export const TEXT_NAMES = Object.keys(TEXTS) as Text[];
export const textOf = (words: string) => TEXT_NAMES.find((name) => TEXTS[name].words === words) as Text;
export const OPENING: Text = 'parcel';

const cosineOf = (one: Text, other: Text): number =>
  Math.cos(((Number(TEXTS[one].degrees) - Number(TEXTS[other].degrees)) * Math.PI) / 180);
const isNear = (one: Text, other: Text): boolean =>
  Math.abs(Number(TEXTS[one].degrees) - Number(TEXTS[other].degrees)) < 25.8;

/** Glued together, or taken for JSON or for members of an object, some of them would be others. */
export const TENANTS = ['ten', 'tens'] as const;
export const SESSIONS = [
  { id: 's', isInferred: false },
  { id: 's","s', isInferred: false },
  { id: '__proto__', isInferred: true },
] as const;
export const AGENTS = ['a', 's","a'] as const;
export interface Asker {
  tenant: string;
  session: (typeof SESSIONS)[number];
  agent: string;
  name: string;
}
export const ASKERS: readonly Asker[] = TENANTS.flatMap((tenant) =>
  SESSIONS.flatMap((session) =>
    AGENTS.map((agent) => ({ tenant, session, agent, name: `${tenant} ${session.id} ${agent}` })),
  ),
);
export const NOISE = 'noise';
export const NOISE_COUNT = 9;

/** How the sidecar is for what is asked now. */
export interface Link {
  isReady: boolean;
  embedMs: number;
  /** Its answer's way back. */
  replyMs: number;
  /** Without having looked. */
  failure: SidecarFailureReason | null;
  /** Its model gives vectors of another dimension than it did. */
  isSkewed: boolean;
}
export const WELL: Link = { isReady: true, embedMs: 0, replyMs: 0, failure: null, isSkewed: false };

export interface Asking {
  asker: Asker;
  text: Text;
  /** Of a session that nobody named: which of its conversations; the second is kept at its vendor. */
  conversation: 0 | 1;
  model: 'm1' | 'm2';
  isRetry: boolean;
  /** Beside a picture. */
  isMore: boolean;
  /** The request takes no hint. */
  isFull: boolean;
}

interface Attempt {
  id: string;
  isCompared: boolean;
  /** It was found to be one, and counted. */
  isLoop: boolean;
  /** One of the calls that made it was. */
  isAnswered: boolean;
  wasLeft: boolean;
}
const newAttempt = (id: string): Attempt => ({
  id,
  isCompared: false,
  isLoop: false,
  isAnswered: false,
  wasLeft: false,
});
interface Kept {
  id: string;
  text: Text;
  steadyMs: number;
  wallMs: number;
}
export type CallEnding = 'answered' | 'left' | 'unanswered';
export interface Call extends Asking {
  id: string;
  atMs: number;
  policy: Exclude<SemanticLoopPolicy, 'off'>;
  /** What its conversation asked before. */
  own: readonly Text[];
  isLookedAt: boolean;
  isChecked: boolean;
  isUnderWay: boolean;
  attempt: Attempt | null;
  isOnce: boolean;
  leave: () => void;
  finding: string | null;
  isHinted: boolean;
}
interface Answer {
  repeated: readonly Kept[];
  maxCosine: number;
  isVetoed: boolean;
  isFit: boolean;
}
type Reply = Answer | SidecarFailureReason | 'left';

class Lookups<Value> {
  readonly #values = new Map<string, { value: Value; touchedMs: number }>();
  constructor(
    readonly nowMs: () => number,
    readonly idleMs: number,
  ) {}
  peek(key: string): Value | undefined {
    const found = this.#values.get(key);
    return found === undefined || this.nowMs() - found.touchedMs > this.idleMs ? undefined : found.value;
  }
  touch(key: string): Value | undefined {
    const value = this.peek(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }
  set(key: string, value: Value): void {
    this.#values.set(key, { value, touchedMs: this.nowMs() });
  }
  delete(key: string): void {
    this.#values.delete(key);
  }
}

export class Model extends ModelTime {
  link = WELL;
  isStoreBroken = false;
  isPauseBroken = false;
  readonly policies = new Map<string, SemanticLoopPolicy>();
  readonly calls: Call[] = [];
  /** What was asked last, and is over. */
  latest: Asking | null = null;
  /** What each conversation asked and had answered, and what of it was looked at. */
  readonly talks = new Map<string, { texts: Text[]; own: Text[] }>();
  readonly sessions = new Map<SessionKey, 'active' | 'paused' | 'ended'>();
  readonly checks: Record<string, number> = {};
  readonly failures: Record<string, number> = {};
  readonly rows: { tenant: string; event: SemanticLoopEvent }[] = [];
  readonly published: unknown[] = [];
  readonly alerts: unknown[] = [];
  readonly pauses: unknown[] = [];
  readonly introduced: string[] = [];
  idCount = 0;
  seq = 0;
  /** Alerts by session, each with its latest loop. */
  board = new Map<SessionKey, SemanticLoopEvent>();
  #kept = new Map<string, Kept[]>();
  #laneMs = new Map<string, number>();
  #replies = new Set<(reply: Reply) => void>();
  #ladder!: Lookups<number>;
  #unanswered!: Lookups<Map<Text, Attempt>>;
  #tasks!: Lookups<Map<Text, Set<string>>>;
  #firsts!: Lookups<{ id: string; text: Text }>;

  constructor() {
    super();
    this.#forget();
  }

  #forget(): void {
    const steadyMs = () => this.nowMs;
    this.#ladder = new Lookups(steadyMs, KNOWN_MS);
    this.#unanswered = new Lookups(steadyMs, UNANSWERED_KNOWN_MS);
    this.#tasks = new Lookups(steadyMs, KNOWN_MS);
    this.#firsts = new Lookups(steadyMs, KNOWN_MS);
  }

  talk({ asker, conversation }: Asking) {
    const key = `${asker.name} ${conversation}`;
    const talk = this.talks.get(key) ?? { texts: [], own: [] };
    this.talks.set(key, talk);
    return talk;
  }

  ask(asking: Asking, id: string): Call {
    const { asker, text, isRetry, model } = asking;
    const policy = this.policies.get(agentScope(asker.tenant, asker.agent)) ?? 'alert';
    const talk = this.talk(asking);
    const call: Call = {
      ...asking,
      id,
      atMs: this.wallMs,
      policy: policy === 'off' ? 'hint' : policy,
      own: [...talk.own],
      isLookedAt: policy !== 'off' && text !== 'short',
      isChecked: false,
      isUnderWay: false,
      attempt: null,
      isOnce: false,
      leave: () => {},
      finding: null,
      isHinted: false,
    };
    this.calls.push(call);
    if (!call.isLookedAt) return call;
    if (asker.session.isInferred && talk.texts.length === 0) {
      if (this.#tasks.peek(asker.name) === undefined && this.#firsts.peek(asker.name) === undefined)
        this.#firsts.set(asker.name, { id, text });
      return call;
    }
    call.isChecked = true;
    const { attempt: known } = isRetry ? this.#attempts(asker, text) : { attempt: undefined };
    if (known?.isCompared) {
      call.attempt = known;
      return call;
    }
    if (!this.link.isReady) {
      this.#failed(call, 'unavailable');
      return call;
    }
    const tasks = this.#tasks.touch(asker.name) ?? new Map<Text, Set<string>>();
    const before = tasks.get(text);
    // Nobody asked it here before, or for something else.
    call.isOnce = before === undefined ? isRetry : !before.has(model);
    this.#tasks.set(asker.name, tasks.set(text, new Set([...(before ?? []), model])));
    const { attempts, attempt } = this.#attempts(asker, text);
    call.attempt = attempt !== undefined && (isRetry || !attempt.wasLeft) ? attempt : newAttempt(id);
    this.#unanswered.set(asker.name, attempts.set(text, call.attempt));
    const first = this.#firsts.peek(asker.name);
    this.#firsts.delete(asker.name);
    if (first !== undefined) this.#send(asker, first.id, first.text, () => {});
    call.isUnderWay = true;
    call.leave = this.#send(asker, call.attempt.id, text, (reply) => this.#hear(call, reply));
    return call;
  }

  #attempts({ name }: Asker, text: Text) {
    const attempts = this.#unanswered.touch(name) ?? new Map<Text, Attempt>();
    return { attempts, attempt: attempts.get(text) };
  }

  end(call: Call, ending: CallEnding): void {
    this.calls.splice(this.calls.indexOf(call), 1);
    if (call.asker.tenant !== NOISE) this.latest = call;
    const talk = this.talk(call);
    if (ending === 'answered') {
      talk.texts.push(call.text);
      // One that its vendor keeps goes on from this call, and of it is known what was looked at.
      if (call.conversation === 0) talk.own.push(call.text);
      else talk.own = [...call.own, ...(call.isLookedAt ? [call.text] : [])];
    }
    if (!call.isChecked) return;
    const { attempts, attempt: known } = this.#attempts(call.asker, call.text);
    const attempt = call.attempt ?? known;
    if (ending === 'unanswered') {
      if (!attempt?.isAnswered)
        this.#unanswered.set(call.asker.name, attempts.set(call.text, known ?? newAttempt(call.id)));
    } else if (ending === 'left') {
      if (attempt !== undefined) attempt.wasLeft = true;
    } else {
      if (attempt !== undefined) attempt.isAnswered = true;
      attempts.delete(call.text);
    }
  }

  /** @returns what its client does that leaves */
  #send(asker: Asker, id: string, text: Text, hear: (reply: Reply) => void): () => void {
    const { embedMs, replyMs, failure, isSkewed } = this.link;
    const reply = (what: Reply): void => {
      if (this.#replies.delete(reply)) hear(what);
    };
    this.#replies.add(reply);
    const back = (what: Reply): void => {
      this.after(replyMs, () => reply(what));
    };
    if (failure !== null) reply(failure);
    else {
      const askedMs = this.nowMs;
      this.after(TIMEOUT_MS, () => reply('timeout'));
      const readyMs = askedMs + Math.min(embedMs, TIMEOUT_MS);
      // One after another.
      const turnMs = Math.max(readyMs, this.#laneMs.get(asker.name) ?? 0);
      this.#laneMs.set(asker.name, turnMs);
      const kept = this.#kept;
      const isInTime = embedMs < TIMEOUT_MS && turnMs - askedMs < TIMEOUT_MS;
      if (text === 'unfit') {
        if (embedMs < TIMEOUT_MS)
          this.after(embedMs, () => back({ repeated: [], maxCosine: -1, isVetoed: false, isFit: false }));
      } else if (isInTime)
        this.after(turnMs - askedMs, () => {
          if (isSkewed) back('error');
          else back(this.#compare(kept, asker, id, text));
        });
    }
    return () => reply('left');
  }

  #compare(all: Map<string, Kept[]>, { name }: Asker, id: string, text: Text): Answer {
    const kept = (all.get(name) ?? []).filter(({ steadyMs }) => this.nowMs - steadyMs < KNOWN_MS);
    const others = kept.filter((one) => one.id !== id);
    const nearest = others.toSorted(
      (a, b) => cosineOf(b.text, text) - cosineOf(a.text, text) || b.wallMs - a.wallMs,
    );
    const near = nearest.filter((one) => isNear(one.text, text));
    const repeated = near.filter((one) => TEXTS[one.text].says === TEXTS[text].says);
    const own = { id, text, steadyMs: this.nowMs, wallMs: this.wallMs };
    all.set(name, [...others, own].slice(-HISTORY_COUNT));
    const [first] = nearest;
    const maxCosine = first === undefined ? -1 : cosineOf(first.text, text);
    return { repeated, maxCosine, isVetoed: near.length > 0 && repeated.length === 0, isFit: true };
  }

  #hear(call: Call, reply: Reply): void {
    call.isUnderWay = false;
    if (reply === 'left') bump(this.checks, 'left');
    else if (typeof reply === 'string') this.#failed(call, reply);
    else {
      (call.attempt as Attempt).isCompared = true;
      const { isInferred } = call.asker.session;
      const found = reply.repeated.find(
        ({ text }) =>
          !(text === call.text && (call.isMore || call.isOnce)) && (!isInferred || call.own.includes(text)),
      );
      const other = reply.isVetoed ? 'vetoed' : reply.isFit ? 'clear' : 'unfit';
      bump(this.checks, found === undefined ? other : 'loop');
      if (found !== undefined) this.#loop(call, found, reply.maxCosine);
    }
  }

  #failed(call: Call, reason: string): void {
    bump(this.checks, 'failed_open');
    bump(this.failures, reason);
    call.finding = reason;
  }

  #loop(call: Call, similar: Kept, maxCosine: number): void {
    const { asker, policy } = call;
    const attempt = call.attempt as Attempt;
    if (attempt.isLoop) {
      Object.assign(call, { finding: call.isFull ? 'noted' : 'hinted', isHinted: !call.isFull });
      if (call.isFull) bump(this.failures, 'modification');
      return;
    }
    attempt.isLoop = true;
    const key = sessionKey(asker.tenant, asker.session.id);
    const occurrence = (this.#ladder.peek(key) ?? this.#storedCount(call, key)) + 1;
    this.#ladder.set(key, occurrence);
    const step = Math.min(occurrence, { hint: 1, alert: 2, pause: 3 }[policy]);
    const isHinted = !call.isFull;
    const action = step === 1 ? (isHinted ? 'hinted' : 'noted') : step === 2 ? 'alerted' : 'paused';
    this.idCount += 1;
    const event: SemanticLoopEvent = {
      event_type: 'semantic_loop',
      event_id: `slp_id-${this.idCount}`,
      seq: 0,
      agent_id: asker.agent,
      session_id: asker.session.id,
      call_id: call.id,
      at_ms: call.atMs,
      similarity: (1 + maxCosine) / 2,
      threshold: 0.95,
      model_id: 'angles',
      prompt: TEXTS[call.text].words,
      similar_prompt: TEXTS[similar.text].words,
      similar_call_id: similar.id,
      occurrence,
      action,
      is_hinted: isHinted,
    };
    Object.assign(call, { finding: action, isHinted });
    if (action === 'paused' && this.isPauseBroken) event.action = 'alerted';
    if (!isHinted) bump(this.failures, 'modification');
    const { agent_id, session_id, at_ms, similarity, threshold } = event;
    if (step > 1) {
      const paused = event.action === 'paused';
      const told = { agent_id, session_id, at_ms, similarity, threshold, occurrence, paused };
      this.alerts.push({ kind: 'semantic_loop', tenant_id: asker.tenant, ...told });
      this.introduced.push(key);
      if (!this.sessions.has(key)) this.sessions.set(key, 'active');
    }
    if (action === 'paused') {
      this.pauses.push([
        key,
        `semantic loop ${occurrence} of this session: similarity ${similarity.toFixed(3)}`,
      ]);
      if (this.isPauseBroken) bump(this.failures, 'pause');
      else this.sessions.set(key, 'paused');
    }
    if (this.isStoreBroken) bump(this.failures, 'storage');
    else {
      this.seq += 1;
      event.seq = this.seq;
      this.rows.push({ tenant: asker.tenant, event });
    }
    this.published.push(
      [asker.tenant, TOPICS.semanticLoops, event],
      [asker.tenant, sessionTopic(session_id), { kind: 'semantic_loop', event }],
    );
    if (step > 1) this.board.set(key, event);
  }

  #storedCount(call: Call, key: SessionKey): number {
    if (this.isStoreBroken) {
      bump(this.failures, 'storage');
      return 0;
    }
    const last = this.rows.findLast(({ tenant, event }) => sessionKey(tenant, event.session_id) === key);
    return last !== undefined && call.atMs - last.event.at_ms <= KNOWN_MS ? last.event.occurrence : 0;
  }

  isOpen(key: SessionKey): boolean {
    const state = this.sessions.get(key);
    return (
      state === 'paused' || (state !== 'ended' && this.#isRecent(this.board.get(key) as SemanticLoopEvent))
    );
  }

  #isRecent({ at_ms }: SemanticLoopEvent): boolean {
    return Math.abs(this.wallMs - at_ms) < ALERT_OVER_MS;
  }

  sidecarEnds(): void {
    for (const reply of [...this.#replies]) reply('unavailable');
    this.#kept = new Map();
    this.#laneMs = new Map();
  }

  /** The gateway does, and another begins; what its calls had asked goes on in the sidecar. */
  restart(): void {
    for (const call of [...this.calls]) {
      call.leave();
      this.end(call, 'unanswered');
    }
    this.#forget();
    this.board = new Map();
    const alerts = this.rows.filter(({ event }) => event.action === 'alerted' || event.action === 'paused');
    for (const [key, state] of this.sessions) {
      const own = alerts.filter(({ tenant, event }) => sessionKey(tenant, event.session_id) === key);
      // Where the clock was set back the latest need not be the youngest. One that has ended may go on.
      const latest =
        own.findLast(({ event }) => this.#isRecent(event)) ?? (state === 'paused' ? own.at(-1) : undefined);
      if (latest !== undefined) this.board.set(key, latest.event);
    }
  }

  /** Whoever looks closes those that are over. */
  openAlerts() {
    for (const key of [...this.board.keys()]) if (!this.isOpen(key)) this.board.delete(key);
    return [...this.board];
  }
}

const bump = (counts: Record<string, number>, name: string): void => {
  counts[name] = (counts[name] ?? 0) + 1;
};
