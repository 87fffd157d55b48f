/** What of a message, or of an event of its stream, is text, calls or book-keeping. */
import { isExactObject, isNothing, saysOnly } from '../lossless.js';
import { asList, asName, asRecord, type JsonRecord } from '../read-json.js';

const ENVELOPE = new Set(['id', 'type', 'role', 'model', 'content', 'stop_reason', 'usage']);
const TEXT = new Set(['type', 'text']);
const TOOL_USE = new Set(['type', 'id', 'name', 'input', 'caller']);
const EVENT = new Set(['type', 'index', 'message', 'content_block', 'delta', 'usage']);
const DELTAS = new Map([
  ['text_delta', new Set(['type', 'text'])],
  ['input_json_delta', new Set(['type', 'partial_json'])],
]);
const STOP = new Set(['stop_reason']);

export type PlainBlock = 'text' | 'tool_use';

/** A message of one text at most, then calls: no order but this can be written again. */
export function isPlainMessage(message: JsonRecord): boolean {
  const blocks = asList(message.content);
  return (
    isPlainEnvelope(message) &&
    Array.isArray(message.content) &&
    blocks.every((value, index) => {
      const kind = plainBlock(asRecord(value));
      return kind === 'tool_use' || (kind === 'text' && index === 0);
    })
  );
}

export const isPlainEnvelope = (message: JsonRecord): boolean =>
  message.type === 'message' && message.role === 'assistant' && saysOnly(message, ENVELOPE);

/** Null for any other block. */
export function plainBlock(block: JsonRecord | undefined): PlainBlock | null {
  if (block?.type === 'text') return typeof block.text === 'string' && saysOnly(block, TEXT) ? 'text' : null;
  if (block?.type !== 'tool_use' || !saysOnly(block, TOOL_USE)) return null;
  return asName(block.name) !== null && isExactObject(block.input) && isOwnCaller(block.caller)
    ? 'tool_use'
    : null;
}

/** The model itself, not a program of its own that runs at the vendor's. */
function isOwnCaller(value: unknown): boolean {
  const caller = asRecord(value);
  return isNothing(value) || (caller?.type === 'direct' && Object.keys(caller).length === 1);
}

export const isPlainEvent = (event: JsonRecord): boolean => saysOnly(event, EVENT);

export function isPlainDelta(delta: JsonRecord, kind: PlainBlock | undefined): boolean {
  const names = DELTAS.get(String(delta.type));
  return names !== undefined && saysOnly(delta, names) && (delta.type === 'text_delta') === (kind === 'text');
}

export const isPlainStop = (delta: JsonRecord | undefined): boolean =>
  delta !== undefined && saysOnly(delta, STOP);
