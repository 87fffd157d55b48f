import { asRecord } from '../read-json.js';

/**
 * At the end of `system`, so that a prompt cached up to a block of it stays cached. Without a list of messages, or
 * with a `system` that is neither text nor blocks, the request is left as it is.
 */
export function injectMessagesSystem(body: unknown, text: string): unknown {
  const request = asRecord(body);
  if (!request || !Array.isArray(request.messages)) return body;
  const { system } = request;
  if (system === undefined || system === null || system === '') return { ...request, system: text };
  if (typeof system === 'string') return { ...request, system: `${system}\n\n${text}` };
  if (!Array.isArray(system)) return body;
  return { ...request, system: [...system, { type: 'text', text }] };
}
