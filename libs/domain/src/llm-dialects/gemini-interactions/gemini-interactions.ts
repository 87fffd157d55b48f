/**
 * Google's Interactions API, in its schema of steps; on Vertex AI below a project and a location.
 *
 * @see https://ai.google.dev/api/interactions-api
 */
import type { Dialect } from '../dialect.js';
import { geminiError } from '../gemini/write-error.js';
import { isPostTo } from '../path-match.js';
import { HELD_COMMENT, JSON_TYPE, sseEvent } from '../sse-event.js';
import { canonicalInteractionRequest } from './canonical-request.js';
import { injectInteractionSystem } from './inject-system.js';
import { readInteractionAnswer } from './read-answer.js';
import { readInteractionRequest } from './read-request.js';
import { InteractionStreamReader } from './stream-reader.js';
import { writeInteractionAnswer, writeInteractionReplay } from './write-answer.js';

export const geminiInteractions: Dialect = {
  name: 'gemini-interactions',
  matches: (method, path) => isPostTo(method, path, '/interactions'),
  readRequest: readInteractionRequest,
  readAnswer: readInteractionAnswer,
  streamReader: () => new InteractionStreamReader(),
  hasStreamEnd: true,
  injectSystem: injectInteractionSystem,
  canonicalRequest: canonicalInteractionRequest,
  writeAnswer: writeInteractionAnswer,
  writeReplay: writeInteractionReplay,
  writeError: (error) => ({ contentType: JSON_TYPE, body: JSON.stringify(geminiError(error)) }),
  writeStreamError: ({ code, message }) =>
    sseEvent('error', { event_type: 'error', error: { code, message } }),
  keepAliveComment: HELD_COMMENT,
};
