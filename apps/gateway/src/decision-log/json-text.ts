/** JSON text to a value, or why not: where it breaks, never what it says (the engine's own message quotes it). */
export type JsonText = { ok: true; value: unknown } | { ok: false; detail: string };

export function parseJsonText(text: string): JsonText {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, detail: detailOf(text, error as Error) };
  }
}

function detailOf(text: string, { message }: Error): string {
  if (text === '') return 'The body is empty; send a DecisionLog as JSON.';
  const position = /position (\d+)/.exec(message)?.[1];
  if (position === undefined) return 'The JSON ends too early or is malformed.';
  if (message.includes('after JSON'))
    return `More follows the JSON at character ${position}: several DecisionLogs go as an array, or one to a line as application/x-ndjson.`;
  return `The JSON is malformed at character ${position}.`;
}
