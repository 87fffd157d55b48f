/**
 * Whoever waits to hear of a session's control: hanging polls and sockets. Knows nothing of states; it is told that
 * something changed, and wakes. Polls are bounded over all sessions, no tenant has more than half of the places; sockets
 * are bounded by who accepts them.
 */
import {
  type ControlPollAnswer,
  type ErrorCode,
  LIMITS,
  ObservatoryError,
  type SessionKey,
  tenantIdOf,
} from '#contracts';
import { type Interrupt, LinkedList, type Timer } from '#kernel';
import { FairShare } from '../fair-share.js';
import type { HitlEvents } from './hitl-events.js';

export type ControlListener = (control: ControlPollAnswer) => void;

/** Told to clients that find all places taken, or a gateway that is about to end. */
const RETRY_AFTER_SECONDS = 5;

export class ControlDelivery {
  readonly #timer: Timer;
  readonly #events: HitlEvents;
  readonly #polls = new Map<SessionKey, LinkedList<() => void>>();
  readonly #calls = new Map<SessionKey, LinkedList<() => void>>();
  readonly #listeners = new Map<SessionKey, LinkedList<ControlListener>>();
  /** Of polls and of proxied calls that are held. */
  readonly #places: FairShare;
  #draining = false;

  constructor({ timer, events }: { timer: Timer; events: HitlEvents }) {
    this.#timer = timer;
    this.#events = events;
    this.#places = new FairShare({ max: LIMITS.pollsHangingMax, onFull: () => events.pollRefused() });
  }

  get hangingCount(): number {
    return this.#places.taken;
  }

  /**
   * Resolves at the next change of the session, after `waitMs`, when the client hangs up, or when a drain begins.
   * Throws `too_many_polls` when every place is taken, or every place that its tenant may have; `draining` from then on, since whoever is
   * answered at once asks again at once.
   *
   * @param who a proxied call is woken by `wakeCalls`, too
   */
  hang(
    key: SessionKey,
    waitMs: number,
    interrupt: Interrupt | undefined,
    who: 'poll' | 'call' = 'poll',
  ): Promise<void> {
    if (interrupt?.isRaised) return Promise.resolve();
    if (this.#draining) throw refusedForNow('draining');
    const tenantId = tenantIdOf(key);
    if (!this.#places.take(tenantId, 1)) throw refusedForNow('too_many_polls');
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        interrupt?.listen(null);
        remove();
        this.#places.giveBack(tenantId, 1);
        this.#events.pollsHanging(this.#places.taken);
        resolve();
      };
      const remove = add(who === 'poll' ? this.#polls : this.#calls, key, wake);
      const cancel = this.#timer.after(waitMs, wake);
      interrupt?.listen(wake);
      this.#events.pollsHanging(this.#places.taken);
    });
  }

  /** Returns the detach function; calling it twice does no harm. */
  listen(key: SessionKey, listener: ControlListener): () => void {
    return add(this.#listeners, key, listener);
  }

  /** Wakes polls and calls, and tells the sockets. A listener that throws is logged; the others still hear. */
  announce(key: SessionKey, control: () => ControlPollAnswer): void {
    for (const wake of this.#polls.get(key) ?? []) wake();
    this.wakeCalls(key);
    const listeners = this.#listeners.get(key);
    if (listeners === undefined) return;
    const told = control();
    for (const listener of listeners) this.push(key, listener, told);
  }

  /** Those held look again whether they may go on. */
  wakeCalls(key: SessionKey): void {
    for (const wake of this.#calls.get(key) ?? []) wake();
  }

  push(key: SessionKey, listener: ControlListener, control: ControlPollAnswer): void {
    try {
      listener(control);
    } catch (error) {
      this.#events.listenerFailed(key, error);
    }
  }

  /** Wakes all that hang, and lets none hang from now on. */
  drain(): void {
    this.#draining = true;
    for (const wakes of [...this.#polls.values(), ...this.#calls.values()]) for (const wake of wakes) wake();
  }
}

const refusedForNow = (code: ErrorCode): ObservatoryError =>
  new ObservatoryError(code, undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });

/** Returns what takes it out again; calling it twice does no harm. */
function add<T>(lists: Map<SessionKey, LinkedList<T>>, key: SessionKey, value: T): () => void {
  const list = lists.get(key) ?? new LinkedList<T>();
  lists.set(key, list);
  const link = list.add(value);
  return () => {
    list.delete(link);
    // Not that of whoever came after the last of this one had left.
    if (list.size === 0 && lists.get(key) === list) lists.delete(key);
  };
}
