import { asRecord } from '../read-json.js';

/** At the end of `instructions`, which apply to this call alone. Instructions of another type stay as they are. */
export function injectInstructions(body: unknown, text: string): unknown {
  const request = asRecord(body);
  if (!request) return body;
  const { instructions } = request;
  if (instructions === undefined || instructions === null || instructions === '') {
    return { ...request, instructions: text };
  }
  return typeof instructions === 'string' ? { ...request, instructions: `${instructions}\n\n${text}` } : body;
}
