/** One event of a stream, as vendors write it. */

/** @param name null: without an `event:` line, as OpenAI's chat and Gemini have it */
export const sseEvent = (name: string | null, data: unknown): string =>
  `${name === null ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

/** The content types of our own answers. */
export const JSON_TYPE = 'application/json';
export const STREAM_TYPE = 'text/event-stream; charset=utf-8';

/** Skipped by every vendor's stream parser; the blank line lets it through their buffers at once. */
export const HELD_COMMENT = ': held by operator\n\n';
