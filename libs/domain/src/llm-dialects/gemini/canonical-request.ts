/** `generateContent` and `streamGenerateContent` in canonical form. */
import type { CanonicalMessage, CanonicalRequest } from '#contracts';
import { canonicalMessage, hasOnly, type MessageShape } from '../canonical-message.js';
import { addTarget } from '../canonical-target.js';
import { FIELDS_EXCLUDED } from '../fields-excluded.js';
import { type CommonName, FieldsLeft, isArray, isNumber, isObject, isString } from '../fields-left.js';
import { asRecord } from '../read-json.js';
import { CallIds } from './call-ids.js';
import { readGeminiPath } from './path.js';

/**
 * Of the query: how the answer is delivered, and what a key says of who asks, which is put back where the vendor sees it.
 * Tokens stay: they go to the vendor as they came, whosever key goes with them.
 */
const IDLE_PARAMETERS = new Set(['key', 'prettyPrint', '$prettyPrint', 'quotaUser']);

const COMMON = new Map<string, CommonName>(
  (
    [
      ['topP', 'top_p'],
      ['topK', 'top_k'],
      ['seed', 'seed'],
      ['stopSequences', 'stop'],
      ['candidateCount', 'n'],
      ['presencePenalty', 'presence_penalty'],
      ['frequencyPenalty', 'frequency_penalty'],
    ] as const
  ).flatMap(([camel, name]) => [
    [camel, name],
    [camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), name],
  ]),
);
const NONE = new Map<string, CommonName>();

const SHAPE: MessageShape = {
  vendor: 'gemini',
  content: 'parts',
  defaultRole: 'user',
  plainText: (part) => (typeof part.text === 'string' && hasOnly(part, 'text') ? part.text : undefined),
};

export function canonicalGeminiRequest(body: unknown, path: string, query?: string): CanonicalRequest {
  const request = asRecord(body);
  const left = new FieldsLeft('gemini', request, FIELDS_EXCLUDED.gemini);
  const single = left.take(isObject, 'contents');
  const contents = single === null ? (left.take(isArray, 'contents') ?? []) : [single];
  const config = new FieldsLeft(
    'gemini',
    left.take(isObject, 'generationConfig', 'generation_config') ?? undefined,
  );
  const rest: Record<string, unknown> = request ? {} : { gemini: body };
  const ids = new CallIds();
  const canonical: CanonicalRequest = {
    dialect: 'gemini',
    model: readGeminiPath(path)?.model ?? left.take(isString, 'model'),
    system: systemOf(
      left.take(isObject, 'systemInstruction', 'system_instruction') ??
        left.take(isString, 'systemInstruction', 'system_instruction'),
    ),
    messages: contents.map((content) => canonicalMessage(ids.count(content), SHAPE)),
    temperature: config.take(isNumber, 'temperature'),
    tools: left.takeWhole('tools'),
    tool_choice: left.takeWhole('toolConfig', 'tool_config'),
    max_tokens: config.take(isNumber, 'maxOutputTokens', 'max_output_tokens'),
    rest,
  };
  config.moveTo(rest, COMMON, 'generationConfig');
  left.moveTo(rest, NONE);
  addTarget(
    rest,
    path,
    /(?:\/models\/[^/]*)?:(?:generateContent|streamGenerateContent)$/,
    query,
    isIdleParameter,
  );
  return canonical;
}

function systemOf(instruction: unknown): CanonicalMessage[] {
  if (instruction === null) return [];
  const content = typeof instruction === 'string' ? { parts: [{ text: instruction }] } : instruction;
  return [canonicalMessage(content, { ...SHAPE, defaultRole: 'system' })];
}

export const isIdleParameter = (name: string, value: string): boolean =>
  IDLE_PARAMETERS.has(name) || ((name === 'alt' || name === '$alt') && (value === 'sse' || value === 'json'));
