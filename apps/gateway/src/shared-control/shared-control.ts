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
  controlWordSchema,
  type DecisionStore,
  ObservatoryError,
} from '#contracts';
import { type IdSource, MINUTE_MS, type SteadyClock } from '#kernel';
import type { Auditor } from '../auth/settings-audit.js';
import { decidedBy, maskAct } from './mask-act.js';
import type { SharedControlEvents } from './shared-control-events.js';

/** A stop that is given elsewhere is in force here after this, at the latest. */
const LOOK_INTERVAL_MS = 250;
const READ_COUNT_MAX = 100;
/** While Redis is away; of more the oldest are given up, and counted. */
const WAITING_COUNT_MAX = 1_000;
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
  events: SharedControlEvents;
  ids: IdSource;
  clock: SteadyClock;
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
  #looking: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: SharedControlParts) {
    this.#parts = parts;
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
    await this.#saveCursor();
  }

  /** @returns whether anything was sent */
  async #send(): Promise<boolean> {
    const { log, gatewayId, events } = this.#parts;
    const unsent = this.#waiting.filter(({ isTaken }) => isTaken !== 'yes');
    // It may stand behind the word that must be obeyed first; and those that wait behind it stay there.
    if (unsent[0]?.isTaken === 'maybe') return false;
    for (const own of unsent) {
      own.isTaken = 'maybe';
      await log.append(JSON.stringify({ from: gatewayId, id: own.id, ...own.word }));
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
      for (const [at, entry] of entries.entries()) {
        if (!(await this.#hear(entry))) return false;
        if (isBroken && at === 0) this.#parts.events.missed();
        this.#cursor = entry.cursor;
      }
      if (entries.length < READ_COUNT_MAX) return true;
    }
  }

  /** @returns false: again later */
  async #hear({ text, ageMs }: ControlLogEntry): Promise<boolean> {
    const { gatewayId, obey, events } = this.#parts;
    const said = parseEntry(text);
    if (said === null) {
      events.unreadable();
      return true;
    }
    const { from, id, word } = said;
    if (from === gatewayId) {
      const at = this.#waiting.findIndex((own) => own.id === id);
      this.#waiting = this.#waiting.slice(at + 1);
      return true;
    }
    const left = () => maskAct(word, new Set(this.#waiting.flatMap((own) => decidedBy(own.word))));
    const { tenant_id, operator_id, role } = word;
    try {
      if (left() !== null) {
        await obey({ by: { tenant_id, operator_id, role, gateway_id: from }, ageMs, left });
        events.obeyed(word);
      }
    } catch (error) {
      if (this.#mayTryAgain(error)) return false;
      events.notObeyed(word, error);
    }
    this.#stuckSinceMs = null;
    return true;
  }

  #mayTryAgain(error: unknown): boolean {
    if (error instanceof ObservatoryError && error.code !== 'store_busy' && error.code !== 'store_full')
      return false;
    const nowMs = this.#parts.clock.steadyMs();
    this.#stuckSinceMs ??= nowMs;
    return nowMs - this.#stuckSinceMs < OBEY_WITHIN_MS;
  }

  /** A word that is read again after a crash is obeyed twice, which does no harm. */
  async #saveCursor(): Promise<void> {
    const cursor = this.#cursor;
    if (cursor === this.#savedCursor) return;
    await this.#parts.store.saveSettings(new Map([[CURSOR_SETTING, cursor]]));
    this.#savedCursor = cursor;
  }
}

/** Null: of a gateway that says it otherwise, or no word at all. */
function parseEntry(text: string): { from: string; id: string; word: ControlWord } | null {
  let json: { from?: unknown; id?: unknown } | null;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  const word = controlWordSchema.safeParse(json);
  return word.success && typeof json?.from === 'string' && typeof json.id === 'string'
    ? { from: json.from, id: json.id, word: word.data }
    : null;
}
