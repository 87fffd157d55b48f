/**
 * Settings that take effect on the next message: stored value, else environment variable, else default. `get`
 * hands out what was given as it was given; `effective` is the same after the checks every consumer applies.
 *
 * @see FR-9.11
 */
import {
  type DecisionStore,
  ObservatoryError,
  type OperatorPrincipal,
  RUNTIME_CONFIG_DEFAULTS,
  type RuntimeConfig,
  type RuntimeConfigAnswer,
  type RuntimeConfigKey,
  type RuntimeConfigPatch,
  type RuntimeConfigSource,
  repeatedNames,
  runtimeConfigPatchSchema,
  runtimeConfigSchema,
} from '#contracts';
import { hasAllTenants } from '#domain/auth';
import { ChangeQueue, changesOf } from '#kernel';
import type { SettingsAudit } from '../auth/settings-audit.js';
import { inWordsOfRequests } from '../errors/in-words-of-requests.js';
import { type Environment, RUNTIME_VARIABLES } from './env.js';

const KEYS = Object.keys(RUNTIME_CONFIG_DEFAULTS) as RuntimeConfigKey[];

/** Key of a setting in the store. */
const settingName = (key: RuntimeConfigKey): string => `config.${key}`;

type ConfigStore = Pick<DecisionStore, 'settings' | 'saveSettings'>;

export class RuntimeConfigStore implements RuntimeConfigSource {
  readonly #store: ConfigStore;
  readonly #audit: SettingsAudit;
  readonly #stored = new Map<RuntimeConfigKey, unknown>();
  /** What the others are: of the environment, or the defaults. */
  readonly #unstored: ReadonlyMap<RuntimeConfigKey, unknown>;
  /** All settings are one thing here: whether a value may be set depends on the others. */
  readonly #changes = new ChangeQueue<'settings'>();

  constructor(options: {
    store: ConfigStore;
    audit: SettingsAudit;
    environment: Environment['runtime'];
  }) {
    this.#store = options.store;
    this.#audit = options.audit;
    this.#unstored = new Map(KEYS.map((key) => [key, unstoredOf(options.environment, key)]));
  }

  /** Reads the stored settings; until then the environment and the defaults are in force. */
  async load(): Promise<void> {
    const settings = await this.#store.settings();
    for (const key of KEYS) {
      if (settings.has(settingName(key))) this.#stored.set(key, settings.get(settingName(key)));
    }
  }

  /** Hot path: each message asks for several. */
  get(key: RuntimeConfigKey): unknown {
    const stored = this.#stored.get(key);
    return stored !== undefined || this.#stored.has(key) ? stored : this.#unstored.get(key);
  }

  /** What is in force: unusable values replaced by their defaults, each with one line that says so. */
  effective(): RuntimeConfigAnswer {
    const warnings: string[] = [];
    const values: Record<string, unknown> = {};
    for (const key of KEYS) {
      const given = this.get(key);
      const isUsable = runtimeConfigSchema.shape[key].safeParse(given).success;
      values[key] = isUsable ? given : RUNTIME_CONFIG_DEFAULTS[key];
      if (!isUsable) warnings.push(this.#warning(key, given));
    }
    const [loop, warning] = [values.entropy_loop_threshold, values.entropy_warning_threshold].map(Number);
    if (loop !== undefined && warning !== undefined && loop > warning) {
      warnings.push(
        `entropy_loop_threshold is ${loop}, above entropy_warning_threshold, ${warning}: no session is ever in warning.`,
      );
    }
    return { values: values as RuntimeConfig, defaults: { ...RUNTIME_CONFIG_DEFAULTS }, warnings };
  }

  /**
   * Changes any subset; null puts a setting back to its environment variable or default. Durable and in the audit
   * before it is in force; what is stored so already is neither. One after another, each checked against what the earlier ones left.
   *
   * @throws ObservatoryError invalid_fields, naming each field and what it takes; forbidden to an operator of some tenants
   */
  async patch(patch: unknown, principal: OperatorPrincipal): Promise<RuntimeConfigAnswer> {
    if (!hasAllTenants(principal.tenant_ids)) {
      throw new ObservatoryError(
        'forbidden',
        'These settings hold for every tenant; only an operator of all may change them.',
      );
    }
    const changes = parsePatch(patch);
    return this.#changes.run('settings', () => this.#apply(changes, principal));
  }

  async #apply(changes: RuntimeConfigPatch, principal: OperatorPrincipal): Promise<RuntimeConfigAnswer> {
    const changed = changesOf(changes, Object.fromEntries(this.#stored));
    const keys = KEYS.filter((key) => key in changed);
    this.#requireOrderedThresholds(changes);
    if (keys.length === 0) return this.effective();

    const before = Object.fromEntries(keys.map((key) => [key, this.get(key)]));
    const after = Object.fromEntries(keys.map((key) => [key, this.#afterChange(key, changes)]));
    const values = new Map(keys.map((key) => [settingName(key), changes[key] ?? undefined]));
    const draft = this.#audit.draft(principal, principal.tenant_id, 'config.update', { before, after });
    await this.#store.saveSettings(values, draft);
    for (const key of keys) {
      if (changes[key] === null) this.#stored.delete(key);
      else this.#stored.set(key, changes[key]);
    }
    return this.effective();
  }

  /** The value in force if `changes` came into effect. */
  #afterChange(key: RuntimeConfigKey, changes: RuntimeConfigPatch): unknown {
    const change = changes[key];
    if (change === undefined) return this.effective().values[key];
    return change ?? this.#unstored.get(key);
  }

  #requireOrderedThresholds(changes: RuntimeConfigPatch): void {
    const names = ['entropy_loop_threshold', 'entropy_warning_threshold'] as const;
    const fields = names.filter((name) => changes[name] !== undefined);
    if (fields.length === 0) return;
    const [loop, warning] = names.map((name) => Number(this.#afterChange(name, changes)));
    if (loop === undefined || warning === undefined || loop <= warning) return;
    throw new ObservatoryError(
      'invalid_fields',
      `entropy_loop_threshold (${loop}) must not exceed entropy_warning_threshold (${warning}): ` +
        'a loop is the graver of the two. Lower the first or raise the second; both fit in one request.',
      { fields },
    );
  }

  #warning(key: RuntimeConfigKey, given: unknown): string {
    const source = this.#stored.has(key) ? `the stored ${key}` : RUNTIME_VARIABLES[key];
    const shown = JSON.stringify(given)?.slice(0, 80);
    return `${source} is ${shown}, which cannot be used; ${key} is ${JSON.stringify(RUNTIME_CONFIG_DEFAULTS[key])} instead.`;
  }
}

function unstoredOf(environment: Environment['runtime'], key: RuntimeConfigKey): unknown {
  const text = environment[RUNTIME_VARIABLES[key]];
  return text === undefined ? RUNTIME_CONFIG_DEFAULTS[key] : parseText(text);
}

/** A number where the text is one; else the text, so that whoever uses it can say what was given. */
function parseText(text: string): unknown {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
}

/** @param patch absent: a request without a body, which changes nothing */
function parsePatch(patch: unknown = {}): RuntimeConfigPatch {
  const parsed = runtimeConfigPatchSchema.safeParse(patch, { error: inWordsOfRequests });
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => {
    if (issue.code === 'unrecognized_keys') {
      const fields = repeatedNames(issue.keys);
      return { fields, text: `unknown: ${fields.join(', ')}; known are ${KEYS.join(', ')}` };
    }
    const field = issue.path.join('.');
    if (field === '') return { fields: [], text: `the body: ${issue.message}` };
    return { fields: [field], text: `${field}: ${issue.message}; null puts it back to its default` };
  });
  const detail = problems.map((problem) => problem.text).join('. ');
  throw new ObservatoryError('invalid_fields', `${detail}.`, {
    fields: problems.flatMap((problem) => problem.fields),
  });
}
