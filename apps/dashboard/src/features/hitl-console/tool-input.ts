/** A held step's `tool_input` as text to edit, and back. Pure. */
import type { StepView } from '#contracts';

/** Objects as indented JSON, text as it stands, nothing as "". */
export function editableInput(step: StepView): string {
  const input = step.action.tool_input;
  if (input === null || input === undefined) return '';
  return typeof input === 'string' ? input : JSON.stringify(input, null, 2);
}

export type ParsedInput =
  | { ok: true; content: string | Record<string, unknown> }
  | { ok: false; problem: string };

/** An input that was an object has to stay one; text stays text, unless it is a JSON object. */
export function parseInput(text: string, step: StepView): ParsedInput {
  if (!text.trim()) return { ok: false, problem: 'Say what the agent should send instead.' };
  const wasObject = typeof step.action.tool_input === 'object' && step.action.tool_input !== null;
  try {
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
      return { ok: true, content: value as Record<string, unknown> };
    }
    return wasObject
      ? { ok: false, problem: 'The original is a JSON object; this is another kind of JSON.' }
      : { ok: true, content: text };
  } catch (error) {
    if (!wasObject) return { ok: true, content: text };
    return {
      ok: false,
      problem: `Not valid JSON: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}
