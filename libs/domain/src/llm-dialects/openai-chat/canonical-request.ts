/** `POST /chat/completions` in canonical form. */
import type { CanonicalRequest } from '#contracts';
import { canonicalMessage, countLeading, hasOnly, type MessageShape } from '../canonical-message.js';
import { addTarget } from '../canonical-target.js';
import { FIELDS_EXCLUDED } from '../fields-excluded.js';
import { type CommonName, FieldsLeft, isArray, isBoolean, isNumber, isString } from '../fields-left.js';
import { asRecord } from '../read-json.js';

const COMMON = new Map<string, CommonName>([
  ['top_p', 'top_p'],
  ['seed', 'seed'],
  ['stop', 'stop'],
  ['n', 'n'],
  ['presence_penalty', 'presence_penalty'],
  ['frequency_penalty', 'frequency_penalty'],
  ['parallel_tool_calls', 'parallel_tool_calls'],
  ['service_tier', 'service_tier'],
]);

const SHAPE: MessageShape = {
  vendor: 'openai-chat',
  content: 'content',
  plainText: (part) =>
    part.type === 'text' && typeof part.text === 'string' && hasOnly(part, 'type', 'text')
      ? part.text
      : undefined,
  // Beside its calls a message of the model may say that it has no text, or say nothing: streamed or whole, clients differ.
  isOmitted: (name, message) => name === 'content' && message.content === null && isArray(message.tool_calls),
};

export function canonicalChatRequest(body: unknown, path: string, query?: string): CanonicalRequest {
  const request = asRecord(body);
  const left = new FieldsLeft('openai-chat', request, FIELDS_EXCLUDED['openai-chat']);
  const all = (left.take(isArray, 'messages') ?? []).map((message) => canonicalMessage(message, SHAPE));
  const systemCount = countLeading(all, ['system', 'developer']);
  const rest: Record<string, unknown> = request ? {} : { 'openai-chat': body };
  // Some vendors know only one of the two names and pass over the other, so the older one is told apart.
  if (isNumber(request?.max_tokens)) rest['openai-chat.max_tokens'] = request.max_tokens;
  // Whether the vendor keeps the answer decides whether its id is of use; here the default is not to.
  if (left.take(isBoolean, 'store') === true) rest.store = true;
  const canonical: CanonicalRequest = {
    dialect: 'openai-chat',
    model: left.take(isString, 'model'),
    system: all.slice(0, systemCount),
    messages: all.slice(systemCount),
    temperature: left.take(isNumber, 'temperature'),
    tools: left.takeWhole('tools'),
    tool_choice: left.take(isString, 'tool_choice') ?? left.takeWhole('tool_choice'),
    max_tokens: left.take(isNumber, 'max_completion_tokens', 'max_tokens'),
    rest,
  };
  left.moveTo(rest, COMMON);
  addTarget(rest, path, '/chat/completions', query);
  return canonical;
}
