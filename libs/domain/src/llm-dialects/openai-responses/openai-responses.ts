/**
 * OpenAI Responses.
 *
 * @see https://platform.openai.com/docs/api-reference/responses
 */
import type { Dialect, ErrorToWrite } from '../dialect.js';
import { openaiError } from '../openai-error.js';
import { isPostTo } from '../path-match.js';
import { HELD_COMMENT, JSON_TYPE, sseEvent } from '../sse-event.js';
import { canonicalResponsesRequest } from './canonical-request.js';
import { injectInstructions } from './inject-system.js';
import { readResponsesAnswer } from './read-answer.js';
import { readResponsesRequest } from './read-request.js';
import { ResponsesStreamReader } from './stream-reader.js';
import { writeResponsesAnswer } from './write-answer.js';
import { writeResponsesReplay } from './write-replay.js';

export const openaiResponses: Dialect = {
  name: 'openai-responses',
  matches: (method, path) => isPostTo(method, path, '/responses'),
  readRequest: readResponsesRequest,
  readAnswer: readResponsesAnswer,
  streamReader: () => new ResponsesStreamReader(),
  hasStreamEnd: true,
  injectSystem: injectInstructions,
  canonicalRequest: canonicalResponsesRequest,
  writeAnswer: writeResponsesAnswer,
  writeReplay: writeResponsesReplay,
  writeError: (error) => ({ contentType: JSON_TYPE, body: JSON.stringify({ error: openaiError(error) }) }),
  writeStreamError,
  keepAliveComment: HELD_COMMENT,
};

/** The members of the documented event, and `error` beside them: that is what the SDKs look for. */
function writeStreamError(error: ErrorToWrite): string {
  const { code, message, param } = openaiError(error);
  return sseEvent('error', {
    type: 'error',
    code,
    message,
    param,
    sequence_number: 0,
    error: openaiError(error),
  });
}
