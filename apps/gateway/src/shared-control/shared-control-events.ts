/** What happens between gateways, each as one function: log line and metric together. No prompts, no reasons. */
import type { Logger } from 'pino';
import type { Counter, Registry } from 'prom-client';
import type { ControlWord } from '#contracts';
import { LinePace, type SteadyClock } from '#kernel';
import { addGauge, metersOf } from '../telemetry/metrics.js';

type Trouble = 'unreachable' | 'unreadable' | 'missed' | 'lost';

export class SharedControlEvents {
  readonly #logger: Logger;
  readonly #lines: LinePace<Trouble>;
  readonly #words: Counter<'outcome'>;

  constructor(clock: SteadyClock, logger: Logger, metrics: Registry, waitingCount: () => number) {
    this.#logger = logger;
    this.#lines = new LinePace(clock);
    const { counter } = metersOf(metrics);
    this.#words = counter(
      'shared_control_words_total',
      'Commands that gateways on one Redis tell each other: told to the others; of theirs obeyed, refused or unreadable; lost before they were told; missed, once for each gap in what Redis kept.',
      'outcome',
    );
    addGauge(
      metrics,
      'shared_control_words_waiting',
      'Commands that the other gateways have not been told of yet: Redis is away.',
      waitingCount,
    );
  }

  told(word: ControlWord): void {
    this.#words.inc({ outcome: 'told' });
    this.#logger.info({ event: 'control_told', ...namesOf(word) }, 'told the other gateways');
  }

  obeyed(word: ControlWord): void {
    this.#words.inc({ outcome: 'obeyed' });
    this.#logger.info({ event: 'control_obeyed', ...namesOf(word) }, 'obeyed what another gateway was told');
  }

  /** It is in force there, and not here. */
  notObeyed(word: ControlWord, error: unknown): void {
    this.#words.inc({ outcome: 'refused' });
    this.#logger.warn(
      { event: 'control_not_obeyed', ...namesOf(word), err: error },
      'what another gateway was told is not in force here',
    );
  }

  /** Of a newer gateway, or somebody else's. */
  unreadable(): void {
    this.#words.inc({ outcome: 'unreadable' });
    this.#warn('unreadable', 'a word of another gateway cannot be read; upgrade this one if it is older');
  }

  /** They are in force elsewhere, and maybe not here. */
  missed(): void {
    this.#words.inc({ outcome: 'missed' });
    this.#warn(
      'missed',
      'Redis has forgotten words that this gateway had not read: what they decide may differ here; command it again',
    );
  }

  /** They are in force here, and nowhere else. */
  lost(count: number): void {
    this.#words.inc({ outcome: 'lost' }, count);
    this.#warn('lost', 'commands are in force at this gateway alone: Redis was away for too long');
  }

  /** That Redis is away its connection tells; this is also for one that answers something else, or a store that is full. */
  unreachable(error: unknown): void {
    this.#warn('unreachable', 'commands are not exchanged with other gateways; they wait', error);
  }

  #warn(cause: Trouble, text: string, error?: unknown): void {
    const untold_count = this.#lines.untoldAt(cause);
    if (untold_count !== null)
      this.#logger.warn({ event: `control_${cause}`, untold_count, err: error }, text);
  }
}

function namesOf({ tenant_id, operator_id, act }: ControlWord) {
  return {
    tenant_id,
    operator_id,
    kind: act.kind === 'command' ? act.command.command : act.kind,
    ...('agent_id' in act ? { agent_id: act.agent_id } : { session_id: act.session_id }),
  };
}
