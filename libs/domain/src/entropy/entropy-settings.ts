/**
 * The three entropy settings, read anew on each use and checked without a schema library, since this runs once per
 * message. An unusable value falls back to its default and is warned of once per distinct value, so that ten
 * thousand messages a second don't write ten thousand warnings.
 *
 * @see FR-9.11
 */
import { RUNTIME_CONFIG_DEFAULTS, type RuntimeConfigSource } from '#contracts';

type NumericSetting = 'entropy_window_size' | 'entropy_loop_threshold' | 'entropy_warning_threshold';

const RANGES: Record<NumericSetting, { min: number; max: number; isInteger: boolean; expected: string }> = {
  entropy_window_size: { min: 1, max: 100, isInteger: true, expected: 'a whole number from 1 to 100' },
  entropy_loop_threshold: { min: 0, max: 1, isInteger: false, expected: 'a number from 0 to 1' },
  entropy_warning_threshold: { min: 0, max: 1, isInteger: false, expected: 'a number from 0 to 1' },
};

/** A setting as it was last read. */
interface Setting {
  readonly key: NumericSetting;
  value: unknown;
  /** What `value` comes to. */
  result: number;
}

const settingOf = (key: NumericSetting): Setting => ({
  key,
  value: undefined,
  result: RUNTIME_CONFIG_DEFAULTS[key],
});

/** Distinct bad values remembered; beyond it all are forgotten and may be warned of again. */
const WARNED_COUNT_MAX = 1_000;

export class EntropySettings {
  readonly #config: RuntimeConfigSource;
  readonly #warn: (message: string) => void;
  /** Latest bad value per setting: recognised without building any text. */
  readonly #latestBad = new Map<NumericSetting, unknown>();
  readonly #warned = new Set<string>();

  readonly #windowSize = settingOf('entropy_window_size');
  readonly #loop = settingOf('entropy_loop_threshold');
  readonly #warning = settingOf('entropy_warning_threshold');

  constructor(config: RuntimeConfigSource, warn: (message: string) => void) {
    this.#config = config;
    this.#warn = warn;
  }

  get windowSize(): number {
    return this.#read(this.#windowSize);
  }

  get loopWhenScoreBelow(): number {
    return this.#read(this.#loop);
  }

  get warningWhenScoreBelow(): number {
    return this.#read(this.#warning);
  }

  /** The value is asked for each time; what to make of it only when it is not the one of the last time. */
  #read(setting: Setting): number {
    const value = this.#config.get(setting.key);
    if (value === setting.value) return setting.result;
    setting.value = value;
    setting.result = this.#check(setting.key, value);
    return setting.result;
  }

  #check(key: NumericSetting, value: unknown): number {
    const range = RANGES[key];
    if (typeof value === 'number' && value >= range.min && value <= range.max) {
      if (!range.isInteger || Number.isInteger(value)) return value;
    }
    // Not set at all is no mistake.
    if (value !== undefined) this.#warnOf(key, value);
    return RUNTIME_CONFIG_DEFAULTS[key];
  }

  #warnOf(key: NumericSetting, value: unknown): void {
    if (this.#latestBad.has(key) && Object.is(this.#latestBad.get(key), value)) return;
    this.#latestBad.set(key, value);
    const shown = describeValue(value);
    const id = `${key}=${shown}`;
    if (this.#warned.has(id)) return;
    if (this.#warned.size >= WARNED_COUNT_MAX) this.#warned.clear();
    this.#warned.add(id);
    this.#warn(
      `${key} is ${shown}, expected ${RANGES[key].expected}; using the default ${RUNTIME_CONFIG_DEFAULTS[key]}`,
    );
  }
}

/** Short and never throwing, whatever the value is. */
function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40));
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? 'an array' : `of type ${typeof value}`;
}
