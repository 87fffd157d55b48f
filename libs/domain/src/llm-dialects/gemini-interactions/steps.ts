/** Steps of the Interactions API: what a client may send and what the model may answer, in one list. */
import type { LlmToolCall } from '#contracts';
import { firstText, type PartReading } from '../content-parts.js';
import { listOf } from '../gemini/fields.js';
import { asJsonText, asName, asRecord, asText, type JsonRecord } from '../read-json.js';

/** What a step of the user's or of the model's holds. An input may be a list of these alone. */
const CONTENTS = new Set<unknown>(['text', 'image', 'audio', 'video', 'document']);

const isContent = (value: unknown): boolean => CONTENTS.has(asRecord(value)?.type);

/** The input as steps, whatever it is short for: contents in a row are one message of the user's. */
export function inputSteps(input: unknown): readonly unknown[] {
  if (typeof input === 'string') return [{ type: 'user_input', content: input }];
  const values = listOf(input);
  if (!values.some(isContent)) return values;
  const steps: unknown[] = [];
  let contents: unknown[] | null = null;
  for (const value of values) {
    if (!isContent(value)) {
      steps.push(value);
      contents = null;
    } else if (contents !== null) contents.push(value);
    else {
      contents = [value];
      steps.push({ type: 'user_input', content: contents });
    }
  }
  return steps;
}

export function readContent(part: JsonRecord): PartReading {
  if (part.type === 'text') return { text: asText(part.text) };
  return isContent(part) ? { attachment: firstText(part.data, part.uri) } : {};
}

const CLIENT_STEPS = new Set(['', 'user_input', 'function_result']);
/** Before there were steps, messages had a role in place of a type. */
const TURNS = new Map<unknown, string>([
  ['user', 'user_input'],
  ['model', 'model_output'],
]);

const typeOf = ({ type, role }: JsonRecord): string => asText(type ?? TURNS.get(role));

export const isUserStep = (step: JsonRecord): boolean => typeOf(step) === 'user_input';

/** Said by the model, or brought back on its behalf: thoughts, and what tools of the vendor's did. */
export const isModelStep = (step: JsonRecord): boolean => !CLIENT_STEPS.has(typeOf(step));

/** A call that the client has to answer; null for any other step. What runs at the vendor's has types of its own. */
export function readCallStep(step: JsonRecord | undefined): LlmToolCall | null {
  const name = asName(step?.name);
  if (step?.type !== 'function_call' || name === null) return null;
  return { id: asName(step.id), name, arguments: asJsonText(step.arguments) };
}
