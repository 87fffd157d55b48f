/** Which part of a tool call counts as the tool: read on each call, like every entropy setting. @see FR-9.11 */
import {
  ENTROPY_TOOL_KEYS,
  type EntropyToolKey,
  RUNTIME_CONFIG_DEFAULTS,
  type RuntimeConfigSource,
} from '#contracts';

const isToolKey = (value: unknown): value is EntropyToolKey =>
  (ENTROPY_TOOL_KEYS as readonly unknown[]).includes(value);

/** The default in place of a value that is none. */
export function toolKeySetting(config: RuntimeConfigSource): EntropyToolKey {
  const value = config.get('entropy_tool_key');
  return isToolKey(value) ? value : RUNTIME_CONFIG_DEFAULTS.entropy_tool_key;
}
