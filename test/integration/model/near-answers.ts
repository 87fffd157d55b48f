/**
 * What the LLM cache gives to whom, as its model has it: every answer is kept with the question it was given to, and each rule is one
 * line over that. The texts are few, so that it is known by hand which of them are near, which the lexical gate tells apart, and
 * which answers say the same.
 */
import type { CacheControl, CachePolicy, CacheSemanticMode, SemanticMatch } from '#contracts';
import { ModelTime } from './model-time.js';

export const EMBED_TIMEOUT_MS = 50;
const FLIGHT_WAIT_MS = 20_000;
/** So few that answers give way to others. */
export const ENTRIES_MAX = 7;

/** By their angles near, up to 23.1 degrees for the model `wide` and 11.5 for `narrow`; no two as near to a third. */
export const QUESTIONS = {
  parcel: { words: 'Where is my parcel?', degrees: 0 },
  package: { words: 'Has anybody found out what happened to the package I am waiting for?', degrees: 14 },
  happened: { words: 'What happened to my parcel?', degrees: 22 },
  delivery: { words: 'Tell me how far the delivery of my order has come by now', degrees: 33 },
  parcel12: { words: 'Where is my parcel 12?', degrees: 4 },
  not: { words: 'Where is my parcel not?', degrees: 9.5 },
  letter: { words: 'Where is my letter?', degrees: 6.5 },
  more: { words: 'Where is my parcel, and what does it cost?', degrees: 17 },
  pay: { words: 'How do I pay for it?', degrees: 180 },
  unfit: { words: 'qwx zrt plk mnb', degrees: null },
} as const;
export type Question = keyof typeof QUESTIONS;
export const QUESTION_NAMES = Object.keys(QUESTIONS) as Question[];

const vetoOf = (...pair: readonly Question[]) => {
  if (pair[0] === pair[1]) return null;
  if (pair.includes('parcel12')) return 'numbers';
  if (pair.includes('not')) return 'negation';
  // The one as the strict gate has it, the other since an answer to the one does not answer the other.
  const isOther = pair.includes('letter') || pair.includes('more');
  return isOther && pair.includes('parcel') ? 'one_word' : null;
};

/** The same from a cosine of 0.9 on: up to 25.8 degrees. */
export const ANSWERS = {
  way: { words: 'It is on its way.', degrees: 300 },
  wayMarked: { words: 'it is **on its way**!', degrees: 200 },
  sent: { words: 'The parcel has been sent.', degrees: 320 },
  lost: { words: 'It has been lost.', degrees: 100 },
  monday: { words: 'Your parcel arrives on Monday.', degrees: 310 },
  none: { words: '', degrees: null },
} as const;
export type Answer = keyof typeof ANSWERS;
export const ANSWER_NAMES = Object.keys(ANSWERS) as Answer[];
const plain = (answer: Answer): Answer => (answer === 'wayMarked' ? 'way' : answer);
/** In what the gate sees; undefined: the vectors say. */
const isSame = (one: Answer, other: Answer): boolean | undefined => {
  if (plain(one) === plain(other)) return true;
  return [one, other].some((answer) => answer === 'monday' || answer === 'none') ? false : undefined;
};
const apart = (one: number | null, other: number | null) =>
  Math.cos(((Number(one) - Number(other)) * Math.PI) / 180);

export const MODELS = { wide: 0.92, narrow: 0.98 } as const;
export type EmbeddingModel = keyof typeof MODELS;
/** How the sidecar is for what is asked now. */
export interface Sidecar {
  isReady: boolean;
  embedMs: number;
  isBroken: boolean;
  model: EmbeddingModel;
  dimension: 2 | 3;
  /** Its vectors are of unit length. */
  isUnit: boolean;
}
export const WELL: Sidecar = {
  isReady: true,
  embedMs: 0,
  isBroken: false,
  model: 'wide',
  dimension: 2,
  isUnit: true,
};

export interface Settings {
  mode: CacheSemanticMode;
  exactTtlMs: number;
  semanticTtlMs: number;
}

/** Taken for members of an object, or glued together, some of them would be others. */
export const AGENTS = [
  { tenant: 'ten', agent: 'a' },
  { tenant: 'ten', agent: '__proto__' },
  { tenant: 'tens', agent: 'a' },
] as const;
export const TENANTS = ['ten', 'tens'] as const;
export const CONTEXTS = [
  { model: 'm1', before: [] },
  { model: 'm2', before: [] },
  { model: 'm1', before: [{ role: 'system', content: 'Be brief.' }] },
  {
    model: 'm1',
    before: [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hi.' },
    ],
  },
] as const;

export interface Asking {
  by: (typeof AGENTS)[number];
  context: number;
  question: Question;
  /** Null: not given. */
  temperature: 0 | 1 | null;
  control: CacheControl | null;
  isStream: boolean;
  isRetry: boolean;
  /** Its loop check has waited for the sidecar in vain. */
  isLate: boolean;
  isHinted: boolean;
}
export type Ending = 'answered' | 'length' | 'failed' | 'broken_off' | 'left';
export interface Brought {
  how: Ending;
  answer: Answer;
  costMicroUsd: number | null;
}
export const keyOf = ({ by, context, temperature, question }: Asking): string =>
  [by.tenant, context, temperature, question].join(' ');

type Vector = Pick<Sidecar, 'model' | 'dimension' | 'isUnit'>;
interface Call extends Asking {
  id: string;
  key: string;
  askedMs: number;
  policy: CachePolicy;
  place: 'waiting' | 'embedding' | 'vendor' | 'over';
  isGone: boolean;
  isLookedUp: boolean;
  serial: number;
  epoch: number;
  leads: Flight | null;
  joined: Flight | null;
  vector: Vector | null;
  shadow: { entry: Entry; cosine: number } | null;
  headers: Record<string, string>;
}
interface Flight {
  name: string;
  waiting: Call[];
}
interface Entry extends Asking {
  key: string;
  id: string;
  answer: Answer;
  vector: Vector | null;
  costMicroUsd: number | null;
  bornMs: number;
  createdMs: number;
  tookMs: number;
  hitCount: number;
  lastHitMs: number | null;
}
export type Match = Omit<SemanticMatch, 'model'> & { asked: Asking; answered: Asking };

class Figures {
  exact = 0;
  semantic = 0;
  coalesced = 0;
  misses = 0;
  shadow = 0;
  savedMicroUsd = 0;
  unpriced = 0;
  savedMs = 0;
  readonly vetoes: Record<string, number> = {};
  readonly notStored: Record<string, number> = {};
  readonly matches: Match[] = [];
  readonly different = new Set<string>();
}
class Tenant {
  /** The least recently used first. */
  readonly entries = new Map<string, Entry>();
  readonly flights = new Map<string, Flight>();
  /** By key, the youngest call that has left an answer. */
  readonly kept = new Map<string, number>();
  epoch = 0;
  figures = new Figures();
}
const bump = (counts: Record<string, number>, name: string): void => {
  counts[name] = (counts[name] ?? 0) + 1;
};
const pairOf = (...keys: readonly string[]) => keys.toSorted().join(' & ');

export class Model extends ModelTime {
  /** By how much the wall clock was set forward. */
  aheadMs = 0;
  sidecar = WELL;
  /** What the gateway takes the sidecar's model for. */
  known: EmbeddingModel | null = null;
  failures = 0;
  readonly policies = new Map<string, CachePolicy>();
  readonly tenants = { ten: new Tenant(), tens: new Tenant() };
  readonly calls: Call[] = [];
  latest: Asking | null = null;
  readonly audit: string[] = [];
  /** What each call came to, of those since somebody looked. */
  told: object[] = [];
  #serial = 0;
  #matchCount = 0;

  constructor(public settings: Settings) {
    super();
  }

  // ---- time

  setClock(byMs: number): void {
    this.wallMs += byMs;
    this.aheadMs += Math.max(0, byMs);
  }

  #ageMs({ bornMs }: Entry): number {
    return this.nowMs + this.aheadMs - bornMs;
  }

  /** Nobody may use the others any more. */
  live(tenant: (typeof TENANTS)[number]): Entry[] {
    const { entries } = this.tenants[tenant];
    const { exactTtlMs, semanticTtlMs } = this.settings;
    for (const entry of entries.values()) {
      const ttlMs = entry.vector === null ? exactTtlMs : Math.max(exactTtlMs, semanticTtlMs);
      if (this.#ageMs(entry) >= ttlMs) entries.delete(entry.key);
    }
    return [...entries.values()];
  }

  // ---- a call's way

  ask(asking: Asking, id: string): void {
    const { by, control, isHinted } = asking;
    const tenant = this.tenants[by.tenant];
    this.#serial += 1;
    const call: Call = {
      ...asking,
      id,
      key: keyOf(asking),
      askedMs: this.nowMs,
      policy: this.policies.get(`${by.tenant} ${by.agent}`) ?? 'on',
      place: 'vendor',
      isGone: false,
      isLookedUp: false,
      serial: this.#serial,
      epoch: tenant.epoch,
      leads: null,
      joined: null,
      vector: null,
      shadow: null,
      headers: control === 'only' ? { 'x-observatory-cache': 'miss' } : {},
    };
    this.calls.push(call);
    this.latest = asking;
    if (control === 'bypass' || call.policy === 'off') this.#goOn(call);
    else if (isHinted) {
      bump(tenant.figures.notStored, 'hinted');
      this.#goOn(call);
    } else {
      call.isLookedUp = true;
      if (control === 'refresh') this.#refresh(call);
      else this.#lookUp(call, tenant);
    }
  }

  #refresh(call: Call): void {
    if (this.#mayBeNear(call))
      this.#embedFor(call, (vector) => {
        call.vector = vector;
        this.#miss(call);
      });
    else this.#miss(call);
  }

  #lookUp(call: Call, { flights }: Tenant): void {
    const found = this.live(call.by.tenant).find(({ key }) => key === call.key);
    const name = `${call.key} ${call.epoch}`;
    const flight = flights.get(name);
    if (found !== undefined && this.#ageMs(found) < this.settings.exactTtlMs) this.#hit(call, found, null);
    else if (flight !== undefined && !call.isRetry) this.#join(call, flight);
    else {
      if (flight === undefined && call.control !== 'only') {
        call.leads = { name, waiting: [] };
        flights.set(name, call.leads);
      }
      this.#lookNear(call);
    }
  }

  #join(call: Call, flight: Flight): void {
    Object.assign(call, { place: 'waiting', joined: flight });
    flight.waiting.push(call);
    this.after(FLIGHT_WAIT_MS, () => {
      if (call.place !== 'waiting') return;
      this.#giveUp(call, flight);
      this.#lookNear(call);
    });
  }

  /** Nobody joins it any more. */
  #giveUp(call: Call, flight: Flight): void {
    flight.waiting.splice(flight.waiting.indexOf(call), 1);
    const { flights } = this.tenants[call.by.tenant];
    if (flights.get(flight.name) === flight) flights.delete(flight.name);
  }

  #land({ by, leads }: Call, entry: Pick<Entry, 'id' | 'costMicroUsd'> | null): void {
    if (leads === null) return;
    const { flights, figures } = this.tenants[by.tenant];
    if (flights.get(leads.name) === leads) flights.delete(leads.name);
    for (const call of leads.waiting.splice(0)) {
      if (entry === null) this.#lookNear(call);
      else {
        figures.coalesced += 1;
        this.#give(call, entry, { match: 'exact', ageMs: 0, cosine: null });
      }
    }
  }

  #mayBeNear = ({ policy, temperature }: Call): boolean =>
    this.settings.mode !== 'off' && policy === 'on' && temperature === 0;

  #lookNear(call: Call): void {
    if (this.#mayBeNear(call)) this.#embedFor(call, (vector) => this.#foundNear(call, vector));
    else this.#miss(call);
  }

  #foundNear(call: Call, vector: Vector | null): void {
    call.vector = vector;
    const near = vector === null || call.isGone ? null : this.#nearest(call, vector);
    if (call.isGone) this.#leave(call);
    else if (near !== null && this.settings.mode === 'on') this.#hit(call, near.entry, near.cosine);
    else {
      call.shadow = near;
      if (near !== null) this.tenants[call.by.tenant].figures.shadow += 1;
      this.#miss(call);
    }
  }

  #nearest({ by, context, question, key }: Call, { model, dimension, isUnit }: Vector) {
    const { different, vetoes } = this.tenants[by.tenant].figures;
    const near = this.live(by.tenant)
      .filter((entry) => entry.context === context && entry.temperature === 0)
      .filter(({ vector }) => isUnit && vector?.model === model && vector.dimension === dimension)
      .filter((entry) => this.#ageMs(entry) < this.settings.semanticTtlMs)
      .map((entry) => ({
        entry,
        cosine: apart(QUESTIONS[question].degrees, QUESTIONS[entry.question].degrees),
      }))
      .filter(({ cosine }) => cosine >= MODELS[model])
      .sort((a, b) => b.cosine - a.cosine);
    for (const one of near) {
      if (different.has(pairOf(key, one.entry.key))) continue;
      const veto = vetoOf(question, one.entry.question);
      if (veto === null) return one;
      bump(vetoes, veto);
    }
    return null;
  }

  #embedFor(call: Call, then: (vector: Vector | null) => void): void {
    call.place = 'embedding';
    if (call.isLate) then(null);
    else this.#embed(QUESTIONS[call.question].degrees, then);
  }

  #embed(degrees: number | null, then: (vector: Vector | null) => void): void {
    const { embedMs, isBroken, isReady, ...vector } = this.sidecar;
    const fail = () => {
      this.failures += 1;
      then(null);
    };
    if (!isReady) {
      fail();
      return;
    }
    this.after(Math.min(embedMs, EMBED_TIMEOUT_MS), () => {
      if (embedMs >= EMBED_TIMEOUT_MS || isBroken) {
        fail();
        return;
      }
      if (degrees === null) {
        then(null);
        return;
      }
      if (this.known !== vector.model && !this.#learn()) {
        fail();
        return;
      }
      then(this.known === vector.model ? vector : null);
    });
  }

  #learn(): boolean {
    const { isReady, isBroken, model } = this.sidecar;
    if (!isReady || isBroken) return false;
    this.known = model;
    return true;
  }

  /** As who looks at the page sees it. */
  modelShown(): EmbeddingModel | null {
    if (this.settings.mode === 'off' || !this.sidecar.isReady) return null;
    if (this.known === null) this.#learn();
    return this.known;
  }

  #miss(call: Call): void {
    this.tenants[call.by.tenant].figures.misses += 1;
    call.headers['x-observatory-cache'] = 'miss';
    if (call.isGone) this.#leave(call);
    else this.#goOn(call);
  }

  #goOn(call: Call): void {
    const none = { from: null, cache: null };
    if (call.control === 'only') this.#over(call, { kind: 'refused', ...none });
    else {
      call.place = 'vendor';
      this.#tell(call, { kind: 'vendor', ...none });
    }
  }

  #hit(call: Call, entry: Entry, cosine: number | null): void {
    const { figures, entries } = this.tenants[call.by.tenant];
    entries.delete(entry.key);
    entries.set(entry.key, entry);
    entry.hitCount += 1;
    entry.lastHitMs = this.wallMs;
    figures.savedMs += Math.max(0, entry.tookMs - (this.nowMs - call.askedMs));
    if (cosine !== null) {
      figures.semantic += 1;
      this.#note(call, entry, { cosine, served: true, agreed: null });
    } else figures.exact += 1;
    const match = cosine === null ? 'exact' : 'semantic';
    this.#give(call, entry, { match, ageMs: this.#ageMs(entry), cosine });
  }

  #give(
    call: Call,
    { id: from, costMicroUsd }: Pick<Entry, 'id' | 'costMicroUsd'>,
    { match, ageMs, cosine }: { match: string; ageMs: number; cosine: number | null },
  ): void {
    const { figures } = this.tenants[call.by.tenant];
    figures.savedMicroUsd += costMicroUsd ?? 0;
    if (costMicroUsd === null) figures.unpriced += 1;
    const age_s = Math.floor(ageMs / 1_000);
    call.headers = { 'x-observatory-cache': match, 'x-observatory-cache-age': String(age_s) };
    if (cosine !== null) call.headers['x-observatory-cache-cosine'] = cosine.toFixed(4);
    const saved_usd = costMicroUsd === null ? null : costMicroUsd / 1e6;
    this.#over(call, { kind: 'cached', from, cache: { match, age_s, cosine, saved_usd } });
  }

  #note(call: Call, entry: Entry, how: Pick<SemanticMatch, 'cosine' | 'served' | 'agreed'>): void {
    this.#matchCount += 1;
    this.tenants[call.by.tenant].figures.matches.push({
      match_id: `id-${this.#matchCount}`,
      at_ms: this.wallMs,
      agent_id: call.by.agent,
      call_id: call.id,
      key: entry.key,
      prompt: QUESTIONS[call.question].words,
      matched_prompt: QUESTIONS[entry.question].words,
      ...how,
      verdict: null,
      verdict_by: null,
      asked: call,
      answered: entry,
    });
  }

  #tell({ id, headers }: Call, what: object): void {
    this.told.push({ id, ...what, headers: { ...headers } });
  }

  #over(call: Call, what: object): void {
    call.place = 'over';
    this.calls.splice(this.calls.indexOf(call), 1);
    this.#tell(call, what);
    this.#land(call, null);
  }

  /** Its client does; who embeds hears of it afterwards. */
  leave(call: Call): void {
    call.isGone = true;
    if (call.place === 'embedding') return;
    if (call.joined !== null && call.place === 'waiting') this.#giveUp(call, call.joined);
    this.#leave(call);
  }

  #leave(call: Call): void {
    bump(this.tenants[call.by.tenant].figures.notStored, 'unfinished');
    this.#over(call, { kind: 'gone', from: null, cache: null });
  }

  // ---- what a call leaves behind

  end(call: Call, { how, answer, costMicroUsd }: Brought): void {
    this.calls.splice(this.calls.indexOf(call), 1);
    call.place = 'over';
    if (!call.isLookedUp) return;
    const { by, key, id, serial, vector } = call;
    const tenant = this.tenants[by.tenant];
    const { notStored } = tenant.figures;
    const isEmpty = answer === 'none';
    const refusal = { answered: null, length: 'length', failed: 'failed' }[how as string];
    const reason = refusal === undefined ? 'unfinished' : (refusal ?? (isEmpty ? 'empty' : null));
    if (reason !== null) {
      bump(notStored, reason);
      this.#land(call, null);
    } else {
      const isYoungest = serial >= (tenant.kept.get(key) ?? 0);
      if (isYoungest) tenant.kept.set(key, serial);
      if (!isYoungest || call.epoch !== tenant.epoch) bump(notStored, 'outdated');
      else
        this.#keep({
          ...call,
          id,
          answer,
          costMicroUsd,
          vector: vector?.isUnit ? vector : null,
          bornMs: this.nowMs + this.aheadMs,
          createdMs: this.wallMs,
          tookMs: Math.round(this.nowMs - call.askedMs),
          hitCount: 0,
          lastHitMs: null,
        });
      this.#land(call, { id, costMicroUsd });
    }
    if (call.shadow !== null && (how === 'answered' || how === 'length'))
      this.#compare(call, call.shadow, how === 'length' ? null : answer);
  }

  #keep(entry: Entry): void {
    const own = this.tenants[entry.by.tenant].entries;
    own.delete(entry.key);
    const [other] = TENANTS.filter((name) => name !== entry.by.tenant).map(
      (name) => this.tenants[name].entries,
    );
    if (own.size + (other?.size ?? 0) >= ENTRIES_MAX) {
      // Who has most gives way, who needs the room before its equal.
      const fuller = (other?.size ?? 0) > own.size ? other : own;
      const [oldest] = fuller?.keys() ?? [];
      fuller?.delete(oldest as string);
    }
    own.set(entry.key, entry);
  }

  /** @param answer null: it did not end by itself, and nobody can tell */
  #compare(call: Call, { entry, cosine }: NonNullable<Call['shadow']>, answer: Answer | null): void {
    const note = (agreed: boolean | null) => this.#note(call, entry, { cosine, served: false, agreed });
    const same = answer === null ? null : isSame(answer, entry.answer);
    if (same !== undefined) {
      note(same);
      return;
    }
    const [one, other] = [answer as Answer, entry.answer].map((name) => ANSWERS[name].degrees) as [
      number,
      number,
    ];
    const vectors: (Vector | null)[] = [];
    for (const degrees of [one, other])
      this.#embed(degrees, (vector) => {
        vectors.push(vector);
        if (vectors.length === 2) note(vectors.includes(null) ? null : apart(one, other) >= 0.9);
      });
  }

  // ---- operators

  invalidate(name: (typeof TENANTS)[number], matches: (entry: Entry) => boolean, isPreview: boolean): number {
    const tenant = this.tenants[name];
    const thrownOut = this.live(name).filter(matches);
    if (isPreview) return thrownOut.length;
    tenant.epoch += 1;
    for (const { key } of thrownOut) tenant.entries.delete(key);
    this.audit.push('invalidate_cache');
    return thrownOut.length;
  }

  judge(name: (typeof TENANTS)[number], match: Match, verdict: 'right' | 'wrong', by: string): void {
    const tenant = this.tenants[name];
    const { different } = tenant.figures;
    const pair = pairOf(match.key, keyOf(match.asked));
    const isWrong = verdict === 'wrong';
    if (match.verdict === verdict && different.has(pair) === isWrong) return;
    this.audit.push('judge_cache_match');
    Object.assign(match, { verdict, verdict_by: by });
    if (isWrong) {
      different.add(pair);
      tenant.entries.delete(match.key);
      tenant.epoch += 1;
    } else different.delete(pair);
  }

  /** What was under way is over. @param isEmpty nothing outlives the gateway either */
  restart(settings: Settings, isEmpty: boolean): void {
    this.settings = settings;
    this.known = null;
    this.#matchCount = 0;
    for (const tenant of Object.values(this.tenants)) {
      tenant.figures = new Figures();
      if (isEmpty) tenant.entries.clear();
    }
  }
}
