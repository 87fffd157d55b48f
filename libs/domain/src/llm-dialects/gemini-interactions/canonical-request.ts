/** `POST /interactions` in canonical form. */
import type { CanonicalMessage, CanonicalRequest } from '#contracts';
import { canonicalMessage, hasOnly, type MessageShape } from '../canonical-message.js';
import { addTarget } from '../canonical-target.js';
import { FIELDS_EXCLUDED } from '../fields-excluded.js';
import { type CommonName, FieldsLeft, isBoolean, isNumber, isObject, isString } from '../fields-left.js';
import { isIdleParameter } from '../gemini/canonical-request.js';
import { asRecord } from '../read-json.js';
import { inputSteps } from './steps.js';

const COMMON = new Map<string, CommonName>([['service_tier', 'service_tier']]);
const COMMON_IN_CONFIG = new Map<string, CommonName>([
  ['top_p', 'top_p'],
  ['seed', 'seed'],
  ['stop_sequences', 'stop'],
]);

const ROLES = new Map<unknown, string>([
  ['user_input', 'user'],
  ['model_output', 'model'],
]);

const SHAPE: MessageShape = {
  vendor: 'gemini-interactions',
  content: 'content',
  plainText: (part) =>
    part.type === 'text' && typeof part.text === 'string' && hasOnly(part, 'type', 'text')
      ? part.text
      : undefined,
  isOmitted: (name, { type, role }) => name === 'type' && ROLES.get(type) === role,
};

export function canonicalInteractionRequest(body: unknown, path: string, query?: string): CanonicalRequest {
  const request = asRecord(body);
  const left = new FieldsLeft('gemini-interactions', request, FIELDS_EXCLUDED['gemini-interactions']);
  const input = left.take(isInput, 'input') ?? [];
  const config = new FieldsLeft('gemini-interactions', left.take(isObject, 'generation_config') ?? undefined);
  const system = left.take(isString, 'system_instruction');
  const rest: Record<string, unknown> = request ? {} : { 'gemini-interactions': body };
  // Whether the vendor keeps the answer decides whether its id is of use; here the default is that it does.
  if (request?.store !== false) rest.store = true;
  left.take(isBoolean, 'store');
  const canonical: CanonicalRequest = {
    dialect: 'gemini-interactions',
    model: left.take(isString, 'model'),
    system: system === null ? [] : [{ role: 'system', parts: [system], extra: null }],
    messages: inputSteps(input).map(canonicalStep),
    temperature: config.take(isNumber, 'temperature'),
    tools: left.takeWhole('tools'),
    tool_choice: config.takeWhole('tool_choice'),
    max_tokens: config.take(isNumber, 'max_output_tokens'),
    rest,
  };
  config.moveTo(rest, COMMON_IN_CONFIG, 'generation_config');
  left.moveTo(rest, COMMON);
  addTarget(rest, path, '/interactions', query, isIdleParameter);
  return canonical;
}

const isInput = (value: unknown): value is unknown =>
  typeof value === 'string' || (typeof value === 'object' && value !== null);

function canonicalStep(step: unknown): CanonicalMessage {
  const role = isObject(step) && step.role === undefined ? ROLES.get(step.type) : undefined;
  return canonicalMessage(role === undefined ? step : { ...asRecord(step), role }, SHAPE);
}
