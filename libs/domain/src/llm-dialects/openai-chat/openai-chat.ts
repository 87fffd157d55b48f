/**
 * OpenAI Chat Completions, and the many vendors that speak it.
 *
 * @see https://platform.openai.com/docs/api-reference/chat
 */
import type { Dialect } from '../dialect.js';
import { openaiError } from '../openai-error.js';
import { isPostTo } from '../path-match.js';
import { HELD_COMMENT, JSON_TYPE, sseEvent } from '../sse-event.js';
import { canonicalChatRequest } from './canonical-request.js';
import { injectChatSystem } from './inject-system.js';
import { readChatAnswer } from './read-answer.js';
import { readChatRequest } from './read-request.js';
import { ChatStreamReader } from './stream-reader.js';
import { writeChatAnswer, writeChatReplay } from './write-answer.js';

export const openaiChat: Dialect = {
  name: 'openai-chat',
  matches: (method, path) => isPostTo(method, path, '/chat/completions'),
  readRequest: readChatRequest,
  readAnswer: readChatAnswer,
  streamReader: () => new ChatStreamReader(),
  hasStreamEnd: true,
  injectSystem: injectChatSystem,
  canonicalRequest: canonicalChatRequest,
  writeAnswer: writeChatAnswer,
  writeReplay: writeChatReplay,
  writeError: (error) => ({ contentType: JSON_TYPE, body: JSON.stringify({ error: openaiError(error) }) }),
  writeStreamError: (error) => sseEvent(null, { error: openaiError(error) }),
  keepAliveComment: HELD_COMMENT,
};
