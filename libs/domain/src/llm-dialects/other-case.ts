/**
 * Servers whose language looks at names without regard to case (Go's encoding/json, as in Ollama and LocalAI; ASP.NET) take `Messages`
 * for `messages`. What a request says under such a name is asked of the model, and no guard has read it: neither who repeats
 * itself nor what it may cost. The vendors' own know no such name.
 */

/** What guards read; in all but Gemini's API, whose names of two words no lower case equals. */
const READ_NAMES: ReadonlySet<string> = new Set(
  (
    'model models fallbacks plugins messages input prompt instructions system tools functions stream n max_tokens max_completion_tokens max_output_tokens ' +
    'previous_response_id conversation background role content type text refusal name arguments function tool_calls tool_call_id ' +
    'call_id output tool_use_id contents parts'
  ).split(' '),
);

/** @returns the first name that is one of those that guards read but for its case, in the body itself, its messages or their parts; null: none */
export function nameInOtherCase(body: Record<string, unknown>): string | null {
  return inObject(body) ?? inMessages(body.messages) ?? inMessages(body.input);
}

function inObject(value: object): string | null {
  for (const name of Object.keys(value))
    if (!READ_NAMES.has(name) && READ_NAMES.has(name.toLowerCase())) return name;
  return null;
}

function inMessages(messages: unknown): string | null {
  if (!Array.isArray(messages)) return null;
  for (const message of messages) {
    if (typeof message !== 'object' || message === null) continue;
    const name = inObject(message) ?? inParts(message.content) ?? inParts(message.tool_calls);
    if (name !== null) return name;
  }
  return null;
}

function inParts(parts: unknown): string | null {
  if (!Array.isArray(parts)) return null;
  for (const part of parts) {
    const name = typeof part === 'object' && part !== null ? inObject(part) : null;
    if (name !== null) return name;
  }
  return null;
}
