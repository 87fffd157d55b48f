import { asName, asRecord, asText, type JsonRecord } from '../read-json.js';

const XAI = /(?:^|\/)grok-/i;

/**
 * At the end of `instructions`, which apply to this call alone. xAI refuses them beside `previous_response_id`: there the text is a
 * message behind the input, which it keeps. Instructions of another type stay as they are.
 */
export function injectInstructions(body: unknown, text: string): unknown {
  const request = asRecord(body);
  if (!request) return body;
  const { instructions } = request;
  if (instructions === undefined || instructions === null || instructions === '') {
    return takesNoInstructions(request) ? withMessage(request, text) : { ...request, instructions: text };
  }
  return typeof instructions === 'string' ? { ...request, instructions: `${instructions}\n\n${text}` } : body;
}

const takesNoInstructions = ({ model, previous_response_id }: JsonRecord): boolean =>
  asName(previous_response_id) !== null && XAI.test(asText(model));

function withMessage(request: JsonRecord, text: string): JsonRecord {
  const { input } = request;
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  return Array.isArray(items)
    ? { ...request, input: [...items, { role: 'system', content: text }] }
    : request;
}
