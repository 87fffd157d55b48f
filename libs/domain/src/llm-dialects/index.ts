/** LLM dialects: the vendors' wire APIs, read into one vocabulary and written back. */
export type {
  AnswerToWrite,
  BoundThoughts,
  Dialect,
  ErrorToWrite,
  OwnAnswer,
  ReplayToWrite,
  StreamReader,
  ToldWords,
} from './dialect.js';
export { DIALECT_BY_NAME, defaultDialect, dialectFor, thoughtsCounted } from './dialect-for.js';
export { DIALECT_LIMITS } from './dialect-limits.js';
export { deletedAnswerId, fetchedAnswerId } from './kept-answer.js';
export { mediaExcessBytes } from './media-excess.js';
export { namedModels, plainModel } from './named-models.js';
export { writtenAction } from './observation.js';
export { questionIn } from './opening.js';
export { nameInOtherCase } from './other-case.js';
export { isOutputCall } from './output-tool.js';
export { routedPath } from './path-match.js';
export { readsRemoteContent } from './remote-content.js';
export { readUnreadRequest, type UnreadRequest } from './unread-request.js';
export { readUsageAtEnd, USAGE_END_CHARS_MAX } from './usage-at-end.js';
