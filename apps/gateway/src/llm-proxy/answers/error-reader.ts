/**
 * Of an answer that is an error, what the vendor calls it (`rate_limit_exceeded`, `RESOURCE_EXHAUSTED`): for the record of the call.
 * The sentence beside it is left where it is, since vendors quote the prompt in it.
 */
import { z } from 'zod';
import { BytePieces } from '#kernel';

/** Errors are short; a longer one goes unread. */
export const ERROR_BYTES_READ_MAX = 16 * 1024;
const NAME_CHARS_MAX = 64;
/** Words without digits: no prompt, and no key. */
const NAME = /^[a-z]+(?:[_.-][a-z]+)*$/i;

export class ErrorReader {
  readonly #pieces = new BytePieces();
  #byteCount = 0;

  push(bytes: Buffer): void {
    this.#byteCount += bytes.length;
    if (this.#byteCount <= ERROR_BYTES_READ_MAX) this.#pieces.push(bytes);
  }

  /** Null: it has no name that can be read. Never throws. */
  finish(): string | null {
    if (this.#byteCount > ERROR_BYTES_READ_MAX) return null;
    try {
      return nameIn(JSON.parse(Buffer.concat(this.#pieces.all).toString('utf8')));
    } catch {
      return null;
    }
  }
}

/** OpenAI has a code and a type, Anthropic a type, Google a status and, of a stream, an array around it. */
const bodySchema = z.object({
  error: z.object({ code: z.unknown(), type: z.unknown(), status: z.unknown() }).partial(),
});

function nameIn(body: unknown): string | null {
  const read = bodySchema.safeParse(Array.isArray(body) ? body[0] : body);
  if (!read.success) return null;
  const { code, type, status } = read.data.error;
  return [code, type, status].find(isName) ?? null;
}

const isName = (name: unknown): name is string =>
  typeof name === 'string' && name.length <= NAME_CHARS_MAX && NAME.test(name);
