/** What of an interaction is text, calls or book-keeping. */
import { isExactObject, saysOnly } from '../lossless.js';
import { asList, asName, asRecord, type JsonRecord } from '../read-json.js';

/** Much of it is the request, said back. */
const ENVELOPE = new Set([
  ...['id', 'object', 'created', 'updated', 'model', 'status', 'role', 'steps', 'usage', 'service_tier'],
  ...['previous_interaction_id', 'system_instruction', 'tools', 'generation_config', 'store', 'labels'],
  ...['response_format', 'safety_settings', 'input'],
]);
const OUTPUT = new Set(['type', 'content']);
const TEXT = new Set(['type', 'text']);
const CALL = new Set(['type', 'id', 'name', 'arguments']);

/** One message of one text at most, then calls of functions: no order but this can be written again. */
export function isPlainInteraction(interaction: JsonRecord): boolean {
  const { steps } = interaction;
  return (
    saysOnly(interaction, ENVELOPE) &&
    Array.isArray(steps) &&
    steps.every((step, index) => isPlainCall(asRecord(step)) || (index === 0 && isPlainText(asRecord(step))))
  );
}

function isPlainText(step: JsonRecord | undefined): boolean {
  if (step?.type !== 'model_output' || !saysOnly(step, OUTPUT)) return false;
  const contents = asList(step.content);
  const content = asRecord(contents[0]);
  return (
    contents.length === 1 &&
    content?.type === 'text' &&
    typeof content.text === 'string' &&
    saysOnly(content, TEXT)
  );
}

/** Of a step as its stream begins it: a signature, or an error, is more than text or a call. */
export const isPlainBeginning = (step: JsonRecord): boolean =>
  saysOnly(step, step.type === 'function_call' ? CALL : OUTPUT);

const isPlainCall = (step: JsonRecord | undefined): boolean =>
  step?.type === 'function_call' &&
  saysOnly(step, CALL) &&
  asName(step.id) !== null &&
  asName(step.name) !== null &&
  isExactObject(step.arguments);
