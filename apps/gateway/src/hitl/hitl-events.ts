/** What happens around the desk, each as one function: log line and metric together. No prompts, no reasons. */
import type { Logger } from 'pino';
import type { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { ObservatoryError, type RuntimeConfigKey, type SessionKey, splitSessionKey } from '#contracts';
import { metersOf } from '../telemetry/metrics.js';
import type { ControlBound } from './control-bounds.js';

export class HitlEvents {
  readonly #logger: Logger;
  readonly #commands: Counter<'command' | 'outcome'>;
  readonly #acknowledgeSeconds: Histogram;
  readonly #expired: Counter<'action'>;
  readonly #pollsHanging: Gauge;
  readonly #pollsRefused: Counter;
  readonly #paused: Gauge;
  readonly #controlled: Gauge;
  readonly #released: Counter;
  readonly #deferred: Counter<'what'>;
  readonly #evicted: Counter<'shelf'>;
  readonly #refusedByBound: Counter<'bound'>;
  readonly #askersWithoutPlace: Counter;

  constructor(logger: Logger, metrics: Registry) {
    const { counter, gauge, histogram } = metersOf(metrics);
    this.#logger = logger;
    this.#commands = counter(
      'hitl_commands_total',
      'Commands by what came of them: ok, a note, or the code that refused them. Those of rules and of other gateways, too.',
      'command',
      'outcome',
    );
    this.#acknowledgeSeconds = histogram(
      'hitl_acknowledge_seconds',
      'From the request of a pause to its acknowledgement by the agent.',
      [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800],
    );
    this.#expired = counter(
      'hitl_expired_total',
      'Abandoned pauses, by what the policy made of them.',
      'action',
    );
    this.#pollsHanging = gauge(
      'hitl_polls_hanging',
      'Control polls that hang now, and calls that are held: they share the places.',
    );
    this.#pollsRefused = counter(
      'hitl_polls_refused_total',
      'Control polls, and calls to be held, refused because every place was taken.',
    );
    this.#paused = gauge('hitl_sessions_paused', 'Sessions whose messages are held now.');
    this.#controlled = gauge(
      'hitl_sessions_bound',
      'Sessions that hold messages or have directives waiting; bounded by controlsMax.',
    );
    this.#released = counter(
      'hitl_messages_released_total',
      'Held messages published after a resume, a termination or an expiry.',
    );
    this.#deferred = counter(
      'hitl_deferred_total',
      'Put off because the store refused: the rest of a release, what an agent confirmed, the shelving of an expired pause, a look at what a listener has missed.',
      'what',
    );
    this.#evicted = counter(
      'hitl_controls_evicted_total',
      'Sessions forgotten in memory by bound or idle time; their rows stay in the store.',
      'shelf',
    );
    this.#refusedByBound = counter(
      'hitl_controls_refused_total',
      'Pauses and guidance refused because too many sessions are under control, by the bound that was met.',
      'bound',
    );
    this.#askersWithoutPlace = counter(
      'hitl_askers_without_place_total',
      'Requests for a person of whose agent nobody hears, since 20 of its session asked before; of the session they do.',
    );
  }

  commandDone(key: SessionKey, command: string, operatorId: string, outcome: string): void {
    this.#commands.inc({ command, outcome });
    this.#logger.info({ ...scope(key), command, operator_id: operatorId, outcome }, 'hitl command');
  }

  acknowledged(key: SessionKey, via: string, elapsedMs: number): void {
    this.#acknowledgeSeconds.observe(Math.max(0, elapsedMs) / 1_000);
    this.#logger.info({ ...scope(key), via, elapsed_ms: elapsedMs }, 'pause acknowledged');
  }

  expired(key: SessionKey, action: string): void {
    this.#expired.inc({ action });
    this.#logger.warn({ ...scope(key), action }, 'pause expired');
  }

  released(key: SessionKey, count: number): void {
    this.#released.inc(count);
    this.#logger.info({ ...scope(key), count }, 'held messages released');
  }

  /** The session is resumed, but the rest of its held messages could not be released yet; tried again. */
  releaseDeferred(key: SessionKey, error: unknown): void {
    this.#deferred.inc({ what: 'release' });
    this.#logger.error({ ...scope(key), err: error }, 'release deferred');
  }

  /** What the agent took or saw could not be written; it is delivered again, or acknowledged at its next sign. */
  confirmationDeferred(key: SessionKey, error: unknown): void {
    this.#deferred.inc({ what: 'confirmation' });
    this.#logger.warn({ ...scope(key), err: error }, 'confirmation of directives not written');
  }

  /** What is left of an expired pause stays in the store: each start loads it until the session's control changes again. */
  shelveDeferred(key: SessionKey, error: unknown): void {
    this.#deferred.inc({ what: 'shelving' });
    this.#logger.warn({ ...scope(key), err: error }, 'expired pause not shelved');
  }

  /** What the session's pause came to while nobody listened could not be read; it is read again until it can. */
  lookFailed(key: SessionKey, error: unknown): void {
    this.#deferred.inc({ what: 'look' });
    // A socket of many sessions meets the bound of reads for most of them at once, and each is looked for again.
    if (error instanceof ObservatoryError && error.code === 'store_busy') return;
    this.#logger.warn({ ...scope(key), err: error }, 'control not read for a new listener');
  }

  /** A listener's own function threw. */
  listenerFailed(key: SessionKey, error: unknown): void {
    this.#logger.warn({ ...scope(key), err: error }, 'control listener failed');
  }

  settingUnusable(setting: RuntimeConfigKey, fallback: unknown): void {
    this.#logger.warn({ setting, fallback }, 'setting unusable, default in force');
  }

  pollsHanging(count: number): void {
    this.#pollsHanging.set(count);
  }

  pollRefused(): void {
    this.#pollsRefused.inc();
    this.#logger.warn('control poll refused: every place is taken');
  }

  controlled(boundCount: number, pausedCount: number): void {
    this.#controlled.set(boundCount);
    this.#paused.set(pausedCount);
  }

  refusedByBound(key: SessionKey, bound: ControlBound): void {
    this.#refusedByBound.inc({ bound });
    this.#logger.warn({ ...scope(key), bound }, 'refused: too many sessions are under control');
  }

  /** No line of its own: such an agent may ask with every step. */
  askerHasNoPlace(): void {
    this.#askersWithoutPlace.inc();
  }

  evicted(shelf: 'ended' | 'resting'): void {
    this.#evicted.inc({ shelf });
    if (shelf === 'ended')
      this.#logger.warn('a terminated session left memory: its agent reads active again');
  }
}

function scope(key: SessionKey): { tenant_id: string; session_id: string } {
  const { tenantId, sessionId } = splitSessionKey(key);
  return { tenant_id: tenantId, session_id: sessionId };
}
