/**
 * Words for the model in a request of the Messages API: at the end of `system`, so that a prompt cached up to a block of it
 * stays cached. Without a list of messages, or with a `system` that is neither text nor blocks, the request is left as it is.
 *
 * What came before the model's thoughts must stay as it was when they come back, or the request is refused: from the first of them
 * on, words go behind the newest message instead, and in every later request they stand where they stood. So they do in a
 * thread, whose `system` is at the vendor.
 *
 * @see https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
 * @see https://platform.claude.com/docs/en/build-with-claude/message-threads
 */
import type { BoundThoughts, ToldWords } from '../dialect.js';
import { asList, asName, asRecord, type JsonRecord } from '../read-json.js';

type Request = JsonRecord & { messages: readonly unknown[] };

export function injectMessagesSystem(body: unknown, text: string): unknown {
  const request = asRequest(body);
  if (request === null) return body;
  return goesBehind(request)
    ? tellBehind(request, request.messages.length - 1, text)
    : tellInSystem(request, text);
}

export const boundThoughts: BoundThoughts = {
  isBehindMessage(body) {
    const request = asRequest(body);
    return request !== null && goesBehind(request);
  },
  tellAgain(body, under) {
    const request = asRequest(body);
    if (request === null) return body;
    let told = request;
    for (const [at, message] of request.messages.entries()) {
      const signature = signatureIn(message);
      const known = signature === null ? null : under(signature);
      if (known !== null) told = tellAll(told, known, at - 1);
    }
    return told;
  },
  signatureAtBeginning(text) {
    const thoughtsAt = text.search(THOUGHT);
    return thoughtsAt < 0 ? undefined : SIGNATURE.exec(text.slice(thoughtsAt))?.[1];
  },
};

/** A text of the model's cannot pass for one: inside a string quotation marks are escaped. */
const THOUGHT = /"type"\s*:\s*"(?:redacted_)?thinking"/;
const SIGNATURE = /"(?:signature|data)"\s*:\s*"([^"\\]+)"/;

/** Of the first thoughts in a message. */
export function signatureIn(message: unknown): string | null {
  const thoughts = asList(asRecord(message)?.content).map(asRecord).find(isThought);
  return asName(thoughts?.signature) ?? asName(thoughts?.data);
}

export const isThought = (block: JsonRecord | undefined): boolean =>
  block?.type === 'thinking' || block?.type === 'redacted_thinking';

const asRequest = (body: unknown): Request | null => {
  const request = asRecord(body);
  return Array.isArray(request?.messages) ? (request as Request) : null;
};

const goesBehind = ({ thread, messages }: Request): boolean =>
  asRecord(thread) !== undefined || messages.some((message) => signatureIn(message) !== null);

const tellAll = (request: Request, { words, isBehindMessage }: ToldWords, at: number): Request =>
  words.reduce(
    (told, text) => (isBehindMessage ? tellBehind(told, at, text) : tellInSystem(told, text)),
    request,
  );

function tellInSystem(request: Request, text: string): Request {
  const { system } = request;
  if (system === undefined || system === null || system === '') return { ...request, system: text };
  if (typeof system === 'string') return { ...request, system: `${system}\n\n${text}` };
  if (!Array.isArray(system)) return request;
  return { ...request, system: [...system, { type: 'text', text }] };
}

/** Results of tools come first in their message. Behind words that the client puts into the model's mouth nothing may come. */
function tellBehind(request: Request, at: number, text: string): Request {
  const message = asRecord(request.messages[at]);
  if (message?.role !== 'user' && message?.role !== 'system') return request;
  const { content } = message;
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (!Array.isArray(blocks)) return request;
  const told = { ...message, content: [...blocks, { type: 'text', text }] };
  return { ...request, messages: request.messages.with(at, told) };
}
