/**
 * Settings that take effect on the next message, without a restart. Stored per gateway, read on each
 * use; a stored or environment value of the wrong type falls back to the default with a warning.
 * @see FR-9.11
 */
import { z } from 'zod';
import { EXPIRY_ACTIONS } from './hitl.js';

export const ENTROPY_TOOL_KEYS = ['name', 'name+input'] as const;
export type EntropyToolKey = (typeof ENTROPY_TOOL_KEYS)[number];

export const runtimeConfigSchema = z.object({
  /** Tuples per window. */
  entropy_window_size: z.number().int().min(1).max(100),
  /** `loop` strictly below. */
  entropy_loop_threshold: z.number().min(0).max(1),
  /** `warning` from the loop threshold up to strictly below this. */
  entropy_warning_threshold: z.number().min(0).max(1),
  /** `name+input` folds a hash of the canonical arguments into the tuple's tool: far fewer false alarms. */
  entropy_tool_key: z.enum(ENTROPY_TOOL_KEYS),
  /** An abandoned pause expires after this; 0 = never. */
  hitl_pause_ttl_ms: z
    .number()
    .int()
    .min(0)
    .max(30 * 24 * 3_600_000),
  hitl_expiry_action: z.enum(EXPIRY_ACTIONS),
  /** Steps, alerts and violations older than this are deleted; 0 = kept for ever. The audit is never deleted. */
  retention_days: z.number().min(0).max(3_650),
  /** Database size at which the oldest steps are deleted; 0 = no limit. */
  retention_bytes: z.number().int().min(0),
});
export type RuntimeConfig = z.infer<typeof runtimeConfigSchema>;
export type RuntimeConfigKey = keyof RuntimeConfig;

export const RUNTIME_CONFIG_DEFAULTS: Readonly<RuntimeConfig> = {
  entropy_window_size: 5,
  entropy_loop_threshold: 0.25,
  entropy_warning_threshold: 0.5,
  entropy_tool_key: 'name',
  hitl_pause_ttl_ms: 30 * 60_000,
  hitl_expiry_action: 'resume',
  retention_days: 30,
  retention_bytes: 10 * 1024 ** 3,
};

/** `PATCH /v1/config`: any subset; null puts a setting back to its default. */
export const runtimeConfigPatchSchema = z.strictObject(
  Object.fromEntries(
    Object.entries(runtimeConfigSchema.shape).map(([key, schema]) => [key, schema.nullable().optional()]),
  ) as { [K in RuntimeConfigKey]: z.ZodOptional<z.ZodNullable<(typeof runtimeConfigSchema.shape)[K]>> },
);
export type RuntimeConfigPatch = z.infer<typeof runtimeConfigPatchSchema>;

export const runtimeConfigAnswerSchema = z.object({
  /** In force now. */
  values: runtimeConfigSchema,
  defaults: runtimeConfigSchema,
  /** One line per stored value that is unusable, naming it and what is in force instead. */
  warnings: z.array(z.string()),
});
export type RuntimeConfigAnswer = z.infer<typeof runtimeConfigAnswerSchema>;

/** Read on each use, never cached by the caller. Returns what is stored, which may be of the wrong type. */
export interface RuntimeConfigSource {
  get(key: RuntimeConfigKey): unknown;
}
