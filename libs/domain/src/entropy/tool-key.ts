/**
 * What counts as "the same tool call" in an entropy tuple. By name, as the requirement says, an agent that reads
 * twenty different files is in a loop; with the arguments folded in, only one that reads the same file is.
 *
 * @see FR-9.2, `entropy_tool_key` in the runtime configuration
 */
import { hash } from 'node:crypto';
import type { DecisionLog, EntropyToolKey, EntropyTuple } from '#contracts';
import { comparedIntent, PROXY_SOURCE } from '#contracts/store';
import { canonicalJson, parseJsonExactly } from '#kernel';

/** Hex digits of the arguments' hash: 48 bits, compared only inside one session's window. */
const ARGUMENTS_HASH_CHARS = 12;

/**
 * `name`: the tool's name, "" for a step without a tool. `name+input`: `name#0f3a...`, the hash being over the
 * canonical arguments, so that the order of keys and object or JSON text make no difference; just the name where
 * the step has no arguments. Never throws.
 */
export function toolKey(log: DecisionLog, mode: EntropyToolKey): string {
  const name = log.action.tool_call ?? '';
  const input = log.action.tool_input;
  if (mode === 'name' || input === null || input === undefined) return name;
  return `${name}#${hash('sha256', canonicalArguments(input)).slice(0, ARGUMENTS_HASH_CHARS)}`;
}

/** The log's unit of repetition. */
export const tupleOf = (log: DecisionLog, mode: EntropyToolKey): EntropyTuple => ({
  intent: log.meta.source_app === PROXY_SOURCE ? comparedIntent(log.cognition.intent) : log.cognition.intent,
  tool_call: toolKey(log, mode),
  action_status: log.action.status,
});

function canonicalArguments(input: Record<string, unknown> | string): string {
  if (typeof input !== 'string') return canonicalJson(input);
  try {
    return canonicalJson(parseJsonExactly(Buffer.from(input)));
  } catch {
    // Not JSON, or nested deeper than the stack: compared as it is written.
    return input;
  }
}
