/**
 * Gemini `generateContent` and `streamGenerateContent`, of any version.
 *
 * @see https://ai.google.dev/api/generate-content
 */
import type { Dialect } from '../dialect.js';
import { HELD_COMMENT, JSON_TYPE, sseEvent } from '../sse-event.js';
import { canonicalGeminiRequest } from './canonical-request.js';
import { injectSystemInstruction } from './inject-system.js';
import { readGeminiPath } from './path.js';
import { readGeminiRequest } from './read-request.js';
import { GeminiStreamReader } from './stream-reader.js';
import { readGeminiAnswer } from './take-response.js';
import { writeGeminiAnswer, writeGeminiReplay } from './write-answer.js';
import { geminiError } from './write-error.js';

export const gemini: Dialect = {
  name: 'gemini',
  matches: (method, path) => method.toUpperCase() === 'POST' && readGeminiPath(path) !== null,
  readRequest: readGeminiRequest,
  readAnswer: readGeminiAnswer,
  streamReader: () => new GeminiStreamReader(),
  hasStreamEnd: false,
  injectSystem: injectSystemInstruction,
  canonicalRequest: canonicalGeminiRequest,
  writeAnswer: writeGeminiAnswer,
  writeReplay: writeGeminiReplay,
  writeError: (error) => ({ contentType: JSON_TYPE, body: JSON.stringify(geminiError(error)) }),
  writeStreamError: (error) => sseEvent(null, geminiError(error)),
  // For events only: a JSON array has no comments.
  keepAliveComment: HELD_COMMENT,
};
