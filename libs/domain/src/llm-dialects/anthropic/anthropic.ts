/**
 * Anthropic Messages, on Vertex AI too. Counting tokens and batches are other paths, and no calls of the model.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
import type { Dialect } from '../dialect.js';
import { isPostTo, isPostToJust } from '../path-match.js';
import { HELD_COMMENT, JSON_TYPE, sseEvent } from '../sse-event.js';
import { canonicalMessagesRequest } from './canonical-request.js';
import { boundThoughts, injectMessagesSystem } from './inject-system.js';
import { readMessageAnswer } from './read-answer.js';
import { readMessagesRequest } from './read-request.js';
import { MessageStreamReader } from './stream-reader.js';
import { vertexModel } from './vertex-path.js';
import { writeMessageAnswer, writeMessageReplay } from './write-answer.js';
import { messagesError } from './write-error.js';

export const anthropic: Dialect = {
  name: 'anthropic',
  // Without its version where the upstream's base URL has it. Threads of OpenAI's have messages too, deeper down.
  matches: (method, path) =>
    isPostTo(method, path, '/v1/messages') ||
    isPostToJust(method, path, '/messages') ||
    (method.toUpperCase() === 'POST' && vertexModel(path) !== null),
  readRequest: readMessagesRequest,
  readAnswer: readMessageAnswer,
  streamReader: () => new MessageStreamReader(),
  hasStreamEnd: true,
  injectSystem: injectMessagesSystem,
  boundThoughts,
  canonicalRequest: canonicalMessagesRequest,
  writeAnswer: writeMessageAnswer,
  writeReplay: writeMessageReplay,
  writeError: (error) => ({ contentType: JSON_TYPE, body: JSON.stringify(messagesError(error)) }),
  writeStreamError: (error) => sseEvent('error', messagesError(error)),
  keepAliveComment: HELD_COMMENT,
};
