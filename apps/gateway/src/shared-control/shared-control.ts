/**
 * What is commanded at one gateway is in force at all that share its Redis: pauses, resumes, guidance, terminations, stopped agents,
 * their limits. Each gateway obeys its own operators at once and tells the others behind; nothing that is on a call's way waits for
 * Redis. Where Redis is away, words wait here, in order, and each gateway goes on by what it knows.
 *
 *     tell -> waiting -> append -> | log, one order for all | -> read -> obey
 *                  ^                                              |
 *                  +----- own word read back: it waits no more ---+
 *
 * @see maskAct for words that cross
 */
import {
  type ControlAct,
  type ControlLog,
  type ControlLogEntry,
  type ControlWord,
  type DecisionStore,
  ObservatoryError,
} from '#contracts';
import { type IdSource, MINUTE_MS, type SteadyClock, type Timer } from '#kernel';
import type { Auditor } from '../auth/settings-audit.js';
import { decidedBy, maskAct } from './mask-act.js';
import { READ_COUNT_MAX, readSaid, type Said, writeSaid } from './said.js';
import type { SharedControlEvents } from './shared-control-events.js';
import { StopsAhead } from './stops-ahead.js';

/** A stop that is given elsewhere is in force here after this, at the latest. */
const LOOK_INTERVAL_MS = 250;
/** While Redis is away; of more the oldest are given up, and counted. */
const WAITING_COUNT_MAX = 1_000;
/** For the store; then the others hear what is said here meanwhile, and stops that stand behind the word are obeyed ahead of it. */
export const WORD_WAIT_MS = 1_000;
/** A word that the store refuses for so long is given up: those behind it wait for it. */
const OBEY_WITHIN_MS = MINUTE_MS;
/** Where the log was read up to. */
const CURSOR_SETTING = 'control_cursor';

export interface Relayed extends Auditor {
  tenant_id: string;
  /** Where it was commanded; kept in the audit. */
  gateway_id: string;
}

/** What is to be obeyed. */
export interface Heard {
  by: Relayed;
  /** Since it was told, whatever the clocks of gateways say. */
  ageMs: number;
  /** Of the word; asked when its turn has come: what was commanded here meanwhile stands behind it in the log. */
  left: () => ControlAct | null;
}

export interface SharedControlParts {
  log: ControlLog;
  gatewayId: string;
  store: Pick<DecisionStore, 'settings' | 'saveSettings'>;
  /** Does what is left of a word; rejects with what refuses it. What is done already does no harm. */
  obey: (heard: Heard) => Promise<void>;
  /** No stop is in force that the store has not taken yet: nobody waits for one, and a start must hear of it once more. */
  isStored: () => boolean;
  events: SharedControlEvents;
  ids: IdSource;
  clock: SteadyClock;
  timer: Timer;
}

/** The word that is to be obeyed next. */
interface Obeying {
  text: string;
  /** Whether anything of it was left; undefined: the store is still at it. */
  outcome: { isObeyed: boolean } | { error: unknown } | undefined;
}

interface OwnWord {
  id: string;
  word: ControlWord;
  /** Whether Redis has taken it, as far as was read. */
  isTaken: 'no' | 'maybe' | 'yes';
}

export class SharedControl {
  readonly #parts: SharedControlParts;
  #waiting: OwnWord[] = [];
  #cursor: string | null = null;
  #savedCursor: string | null = null;
  /** Since when the store refuses the next word. */
  #stuckSinceMs: number | null = null;
  #obeying: Obeying | null = null;
  readonly #ahead: StopsAhead;
  /** Read up to the end at least once: own words before that, unless they wait, were said before this start. */
  #hasCaughtUp = false;
  #saving: Promise<void> | null = null;
  #looking: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: SharedControlParts) {
    this.#parts = parts;
    this.#ahead = new StopsAhead({
      log: parts.log,
      isOwn: (said) => this.#isOwn(said),
      obey: (stop, ageMs, passed) => this.#obey(stop, ageMs, passed),
    });
  }

  /** Words on their way to the others. */
  get waitingCount(): number {
    return this.#waiting.length;
  }

  /**
   * Hears what was said while this gateway was away, if Redis answers, and from then on whatever is said. Rejects as the store
   * does when it is read.
   */
  async start(): Promise<void> {
    const cursor = (await this.#parts.store.settings()).get(CURSOR_SETTING);
    this.#cursor = this.#savedCursor = typeof cursor === 'string' ? cursor : null;
    await this.look();
    this.#timer = setInterval(() => void this.look(), LOOK_INTERVAL_MS).unref();
  }

  /** Sends what still waits, if Redis takes it. Never rejects. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.lookAnew();
    await this.#saving;
    this.#saveCursor();
    await this.#saving;
    if (this.#waiting.length > 0) this.#parts.events.lost(this.#waiting.length);
  }

  /** Of what is in force here. Never throws. */
  tell(word: ControlWord): void {
    if (this.#waiting.length >= WAITING_COUNT_MAX) {
      this.#waiting.shift();
      this.#parts.events.lost(1);
    }
    this.#waiting.push({ id: this.#parts.ids.next(), word, isTaken: 'no' });
    void this.lookAnew();
  }

  /** A look that begins from now on: one that is under way may have read already. Never rejects. */
  async lookAnew(): Promise<void> {
    await this.#looking;
    await this.look();
  }

  /** One at a time. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#exchange()
      .catch((error: unknown) => this.#parts.events.unreachable(error))
      .finally(() => {
        this.#looking = null;
      });
    return this.#looking;
  }

  async #exchange(): Promise<void> {
    // First, since Redis may have taken a word without saying so in time: said twice, it would undo what stands between.
    await this.#readBack();
    if (await this.#send()) await this.#readBack();
    this.#saveCursor();
  }

  /** @returns whether anything was sent */
  async #send(): Promise<boolean> {
    const { log, gatewayId, events } = this.#parts;
    const unsent = this.#waiting.filter(({ isTaken }) => isTaken !== 'yes');
    // It may stand behind the word that must be obeyed first; and those that wait behind it stay there.
    if (unsent[0]?.isTaken === 'maybe') return false;
    for (const own of unsent) {
      own.isTaken = 'maybe';
      await log.append(writeSaid({ from: gatewayId, ...own }));
      own.isTaken = 'yes';
      events.told(own.word);
    }
    return unsent.length > 0;
  }

  async #readBack(): Promise<void> {
    // What still waits Redis has not, or has lost.
    if (await this.#readAll()) for (const own of this.#waiting) own.isTaken = 'no';
  }

  /** @returns false where a word must be obeyed before those behind it are read */
  async #readAll(): Promise<boolean> {
    for (;;) {
      const { entries, isBroken } = await this.#parts.log.readAfter(this.#cursor, READ_COUNT_MAX);
      // What was read further on may be among what is gone.
      if (isBroken) this.#ahead.end();
      for (const [at, entry] of entries.entries()) {
        this.#ahead.reach(entry.cursor);
        if (!(await this.#hear(entry))) {
          await this.#ahead.hear(entry.cursor);
          return false;
        }
        this.#ahead.pass(entry.cursor);
        if (isBroken && at === 0) this.#parts.events.missed();
        this.#cursor = entry.cursor;
      }
      if (entries.length < READ_COUNT_MAX) {
        this.#hasCaughtUp = true;
        return true;
      }
    }
  }

  /** @returns false: again later */
  async #hear({ text, ageMs }: ControlLogEntry): Promise<boolean> {
    const { events } = this.#parts;
    const said = readSaid(text);
    if (said === null) {
      events.unreadable();
      return true;
    }
    const { word } = said;
    if (this.#isOwn(said)) {
      const at = this.#waiting.findIndex(({ id }) => id === said.id);
      this.#waiting = this.#waiting.slice(at + 1);
      return true;
    }
    if (this.#obeying?.text !== text) await this.#begin(said, text, ageMs);
    const outcome = this.#obeying?.outcome;
    if (outcome === undefined) return false;
    this.#obeying = null;
    if ('error' in outcome) {
      if (this.#mayTryAgain(outcome.error)) return false;
      events.notObeyed(word, outcome.error);
    } else if (outcome.isObeyed) events.obeyed(word);
    this.#stuckSinceMs = null;
    return true;
  }

  /**
   * It needs no obeying. What was said before this start does, in its place: a word before it may come once more, and undo it, and the
   * gateway may have died before it was stored. Guidance would be said twice.
   */
  #isOwn({ from, id, word }: Said): boolean {
    if (from !== this.#parts.gatewayId) return false;
    return this.#hasCaughtUp || this.#waiting.some((own) => own.id === id) || decidedBy(word).length === 0;
  }

  /** Resolves when it is obeyed, or refused, or the store takes its time. */
  #begin(said: Said, text: string, ageMs: number): Promise<void> {
    const obeying: Obeying = { text, outcome: undefined };
    this.#obeying = obeying;
    return new Promise((resolve) => {
      const cancel = this.#parts.timer.after(WORD_WAIT_MS, resolve);
      const settle = (outcome: Obeying['outcome']) => {
        obeying.outcome = outcome;
        cancel();
        resolve();
      };
      this.#obey(said, ageMs).then(
        (isObeyed) => settle({ isObeyed }),
        (error: unknown) => settle({ error }),
      );
    });
  }

  /**
   * @param passed own words that stand before it in the log; undefined: it is obeyed in its place
   * @returns whether anything of it was left
   */
  async #obey({ from, word }: Said, ageMs: number, passed?: ReadonlySet<string>): Promise<boolean> {
    const left = () => {
      const later = this.#waiting.filter(({ id }) => passed?.has(id) !== true);
      const stopped = passed === undefined ? this.#ahead.decided : [];
      return maskAct(word, new Set([...later.flatMap((own) => decidedBy(own.word)), ...stopped]));
    };
    if (left() === null) return false;
    const { tenant_id, operator_id, role } = word;
    await this.#parts.obey({ by: { tenant_id, operator_id, role, gateway_id: from }, ageMs, left });
    return true;
  }

  #mayTryAgain(error: unknown): boolean {
    if (error instanceof ObservatoryError && error.code !== 'store_busy' && error.code !== 'store_full')
      return false;
    const nowMs = this.#parts.clock.steadyMs();
    this.#stuckSinceMs ??= nowMs;
    return nowMs - this.#stuckSinceMs < OBEY_WITHIN_MS;
  }

  /** Waits for nothing: a word that is read again after a crash is obeyed twice, which does no harm. */
  #saveCursor(): void {
    const cursor = this.#cursor;
    const { store, events, isStored } = this.#parts;
    if (cursor === this.#savedCursor || this.#saving !== null || !isStored()) return;
    this.#saving = store.saveSettings(new Map([[CURSOR_SETTING, cursor]])).then(
      () => {
        this.#saving = null;
        this.#savedCursor = cursor;
      },
      (error: unknown) => {
        this.#saving = null;
        events.unreachable(error);
      },
    );
  }
}
