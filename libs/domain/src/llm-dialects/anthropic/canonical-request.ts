/** `POST /v1/messages` in canonical form. */
import type { CanonicalMessage, CanonicalRequest, VendorValue } from '#contracts';
import { canonicalMessage, hasOnly, type MessageShape } from '../canonical-message.js';
import { addTarget } from '../canonical-target.js';
import { FIELDS_EXCLUDED } from '../fields-excluded.js';
import { type CommonName, FieldsLeft, isArray, isNumber, isObject, isString } from '../fields-left.js';
import { asRecord } from '../read-json.js';

const COMMON = new Map<string, CommonName>([
  ['top_p', 'top_p'],
  ['top_k', 'top_k'],
  ['stop_sequences', 'stop'],
]);

const SHAPE: MessageShape = {
  vendor: 'anthropic',
  content: 'content',
  // Where a prompt is cached at the vendor's changes its price alone.
  plainText: (block) =>
    block.type === 'text' && typeof block.text === 'string' && hasOnly(block, 'type', 'text', 'cache_control')
      ? block.text
      : undefined,
};

/** Whether the arguments of a call come as they are made or in one piece is how they are delivered: the AI SDK asks so where it streams. */
function wholeTools(left: FieldsLeft): VendorValue | null {
  const tools = left.takeWhole('tools');
  if (tools === null || !isArray(tools.value)) return tools;
  const value = tools.value.map((tool) => {
    if (!isObject(tool) || tool.eager_input_streaming === undefined) return tool;
    const { eager_input_streaming: _, ...rest } = tool;
    return rest;
  });
  return { ...tools, value };
}

export function canonicalMessagesRequest(body: unknown, path: string, query?: string): CanonicalRequest {
  const request = asRecord(body);
  const left = new FieldsLeft('anthropic', request, FIELDS_EXCLUDED.anthropic);
  const system: CanonicalMessage[] = [];
  const content = left.take(isString, 'system') ?? left.take(isArray, 'system');
  if (content !== null) system.push(canonicalMessage({ role: 'system', content }, SHAPE));
  const rest: Record<string, unknown> = request ? {} : { anthropic: body };
  const canonical: CanonicalRequest = {
    dialect: 'anthropic',
    model: left.take(isString, 'model'),
    system,
    messages: (left.take(isArray, 'messages') ?? []).map((message) => canonicalMessage(message, SHAPE)),
    temperature: left.take(isNumber, 'temperature'),
    tools: wholeTools(left),
    tool_choice: left.takeWhole('tool_choice'),
    max_tokens: left.take(isNumber, 'max_tokens'),
    rest,
  };
  left.moveTo(rest, COMMON);
  addTarget(rest, path, '/v1/messages', query);
  return canonical;
}
