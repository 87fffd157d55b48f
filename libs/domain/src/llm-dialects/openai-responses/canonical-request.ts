/** `POST /responses` in canonical form. */
import type { CanonicalMessage, CanonicalRequest } from '#contracts';
import {
  canonicalMessage,
  countLeading,
  hasOnly,
  type MessageShape,
  wholeItem,
} from '../canonical-message.js';
import { addTarget } from '../canonical-target.js';
import { FIELDS_EXCLUDED } from '../fields-excluded.js';
import {
  type CommonName,
  FieldsLeft,
  isArray,
  isBoolean,
  isNumber,
  isObject,
  isString,
} from '../fields-left.js';
import { asRecord, type JsonRecord } from '../read-json.js';
import { isMessage } from './items.js';

const COMMON = new Map<string, CommonName>([
  ['top_p', 'top_p'],
  ['parallel_tool_calls', 'parallel_tool_calls'],
  ['service_tier', 'service_tier'],
]);

const SHAPE: MessageShape = {
  vendor: 'openai-responses',
  content: 'content',
  plainText: (part) =>
    TEXT_PARTS.has(part.type) && typeof part.text === 'string' && isOnlyText(part) ? part.text : undefined,
  isOmitted: (name, message) =>
    (name === 'type' && message.type === 'message') || (name === 'id' && message.role === 'assistant'),
};

const TEXT_PARTS = new Set<unknown>(['input_text', 'output_text']);

/** An output text comes back with lists that are empty unless it had something to show. */
const isOnlyText = (part: JsonRecord): boolean =>
  hasOnly(part, 'type', 'text', 'annotations', 'logprobs') &&
  isEmptyList(part.annotations) &&
  isEmptyList(part.logprobs);

const isEmptyList = (value: unknown): boolean =>
  value === undefined || (Array.isArray(value) && value.length === 0);

export function canonicalResponsesRequest(body: unknown, path: string, query?: string): CanonicalRequest {
  const request = asRecord(body);
  const left = new FieldsLeft('openai-responses', request, FIELDS_EXCLUDED['openai-responses']);
  const text = left.take(isString, 'input');
  const input = text === null ? (left.take(isArray, 'input') ?? []) : [{ role: 'user', content: text }];
  const all = input.map(canonicalItem);
  const systemCount = countLeading(all, ['system', 'developer']);
  const instructions = left.take(isString, 'instructions');
  const rest: Record<string, unknown> = request ? {} : { 'openai-responses': body };
  // Whether the vendor keeps the answer decides whether its id is of use; here the default is that it does.
  if (request?.store !== false) rest.store = true;
  left.take(isBoolean, 'store');
  const canonical: CanonicalRequest = {
    dialect: 'openai-responses',
    model: left.take(isString, 'model'),
    system: [
      ...(instructions === null ? [] : [{ role: 'instructions', parts: [instructions], extra: null }]),
      ...all.slice(0, systemCount),
    ],
    messages: all.slice(systemCount),
    temperature: left.take(isNumber, 'temperature'),
    tools: left.takeWhole('tools'),
    tool_choice: left.take(isString, 'tool_choice') ?? left.takeWhole('tool_choice'),
    max_tokens: left.take(isNumber, 'max_output_tokens'),
    rest,
  };
  left.moveTo(rest, COMMON);
  addTarget(rest, path, '/responses', query);
  return canonical;
}

/**
 * The model's own messages and calls come back whole, with ids that name copies at the vendor: the model never sees
 * them, and each answer has new ones. Of any other item the id may stand for content.
 */
function canonicalItem(item: unknown): CanonicalMessage {
  if (!isObject(item)) return wholeItem(item, 'openai-responses');
  if (isMessage(item)) return canonicalMessage(item, SHAPE);
  if (item.type !== 'function_call' || typeof item.arguments !== 'string') {
    return wholeItem(item, 'openai-responses');
  }
  const { id: _, ...call } = item;
  return wholeItem(call, 'openai-responses');
}
