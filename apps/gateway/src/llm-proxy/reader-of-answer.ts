/** Who reads an upstream's answer along, as it goes by. */
import { DIALECT_BY_NAME } from '#domain/llm-dialects';
import { AnswerReader } from './answer-reader.js';
import type { AnswerRoom } from './answer-room.js';
import { EndReader } from './end-reader.js';
import { encodingsOf } from './forwarded-headers.js';
import { InflatedReader } from './inflated-reader.js';
import type { ProxyCall } from './proxy-call.js';

/** Null: nobody reads it. */
export function readerOf(call: ProxyCall, headers: readonly string[], room: AnswerRoom) {
  const encodings = encodingsOf(headers);
  const reader = plainReaderOf(call, headers, room);
  return encodings.length === 0 || reader === null ? reader : InflatedReader.for(encodings, reader, room);
}

function plainReaderOf(
  { dialect, summary, unread, unsettled }: ProxyCall,
  headers: readonly string[],
  room: AnswerRoom,
) {
  if (dialect !== null) return AnswerReader.for(dialect, headers, summary?.stream, room);
  if (unsettled?.dialect)
    return AnswerReader.for(DIALECT_BY_NAME[unsettled.dialect], headers, undefined, room);
  return unsettled !== null || unread?.takes === 'tokens' ? new EndReader() : null;
}
