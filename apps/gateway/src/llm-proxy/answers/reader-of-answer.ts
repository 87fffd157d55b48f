/** Who reads an upstream's answer along, as it goes by. */
import type { LlmAnswer } from '#contracts';
import { DIALECT_BY_NAME } from '#domain/llm-dialects';
import type { ProxyCall } from '../proxy-call.js';
import { AnswerReader } from './answer-reader.js';
import type { AnswerRoom } from './answer-room.js';
import { EndReader } from './end-reader.js';
import { encodingsOf } from './forwarded-headers.js';
import { InflatedReader, type Reader } from './inflated-reader.js';
import { KeyMask, MaskedReader } from './key-mask.js';

/** Null: nobody reads it. */
export function readerOf(
  call: ProxyCall,
  headers: readonly string[],
  room: AnswerRoom,
): Reader<LlmAnswer> | null {
  const encodings = encodingsOf(headers);
  const reader = plainReaderOf(call, headers, room);
  if (encodings.length === 0 || reader === null) return reader;
  const mask = KeyMask.for(call.upstream.apiKey);
  return InflatedReader.for<LlmAnswer>(
    encodings,
    mask === null ? reader : new MaskedReader(reader, mask),
    room,
  );
}

function plainReaderOf(
  { dialect, summary, unread, unsettled }: ProxyCall,
  headers: readonly string[],
  room: AnswerRoom,
): Reader<LlmAnswer> | null {
  if (dialect !== null) return AnswerReader.for(dialect, headers, summary?.stream, room);
  if (unsettled?.dialect)
    return AnswerReader.for(DIALECT_BY_NAME[unsettled.dialect], headers, undefined, room);
  return unsettled !== null || unread?.takes === 'tokens' ? new EndReader() : null;
}
