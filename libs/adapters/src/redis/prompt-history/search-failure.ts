/**
 * What went wrong, in words that may be logged, and what to do about it. An error reply of Redis may repeat arguments,
 * so only what kind it is gets through.
 */
import { PromptHistoryFailure } from '#contracts/embedding';
import { NOT_READY } from '../redis-failure.js';

/**
 * `no_index`: to be created. `index_exists`: fine. `read_only`: the connection leads to what is no master any more.
 * `final`: nothing to be done here.
 */
export type SearchErrorKind = 'no_index' | 'index_exists' | 'read_only' | 'final';

export interface SearchError {
  kind: SearchErrorKind;
  failure: PromptHistoryFailure;
}

const UNAVAILABLE = 'unavailable';

/**
 * Redis cannot serve just now, and may soon. A history asks one server, so a cluster's redirections are among them. OOM is not: somebody
 * has to make room. READONLY has a kind of its own.
 */
const UNAVAILABLE_CODES: ReadonlySet<string> = new Set([...NOT_READY, 'TRYAGAIN', 'MOVED', 'ASK']);

export const historyTimeout = (): PromptHistoryFailure =>
  new PromptHistoryFailure(UNAVAILABLE, 'Redis did not reply in time');

export const historyDisconnected = (): PromptHistoryFailure =>
  new PromptHistoryFailure(UNAVAILABLE, 'Redis is not connected');

export const nonsenseReply = (): PromptHistoryFailure =>
  new PromptHistoryFailure(
    'failed',
    'The query engine of Redis answered with something that is no search result',
  );

/** Never throws. @param error of the client */
export function readSearchError(error: unknown): SearchError {
  if (error instanceof PromptHistoryFailure) return final(error);
  if (!(error instanceof Error)) return final(historyDisconnected());
  if (error.name === 'ReplyError') return readReply(error.message);
  return final(historyDisconnected());
}

/**
 * Wordings differ: `<name>: no such index` and `Unknown index name` up to Redis 8.6, `SEARCH_INDEX_NOT_FOUND Index not
 * found` from 8.8 on; `Index already exists` in all.
 */
function readReply(message: string): SearchError {
  if (/unknown command\W+FT\./i.test(message))
    return final(noQueryEngine('This Redis has no query engine (FT.SEARCH is unknown to it)'));
  // Of an index with vectors, RediSearch 1 and 2.0 to 2.2.
  if (/could not parse field spec|invalid field type/i.test(message))
    return final(noQueryEngine('The query engine of this Redis knows no vectors (RediSearch before 2.4)'));
  if (/no such index|unknown index name|index not found|SEARCH_INDEX_NOT_FOUND/i.test(message))
    return { kind: 'no_index', failure: failed('The index of prompts is missing') };
  if (/index already exists|SEARCH_INDEX_EXISTS/i.test(message))
    return { kind: 'index_exists', failure: failed('The index of prompts exists already') };
  if (/\bREADONLY\b/.test(message))
    return {
      kind: 'read_only',
      failure: new PromptHistoryFailure(UNAVAILABLE, 'Redis is a read-only replica'),
    };
  if (/db != 0/i.test(message))
    return final(
      failed('The query engine of Redis works in database 0 only: leave the number out of the URL'),
    );
  if (/(^|-)OOM\b/.test(message)) return final(noMemoryLeft());
  const code = /^[A-Z][A-Z_]{1,30}\b/.exec(message)?.[0];
  if (code !== undefined && UNAVAILABLE_CODES.has(code))
    return final(new PromptHistoryFailure(UNAVAILABLE, `Redis is not ready (${code})`));
  return final(
    failed(code === undefined ? 'Redis answered with an error' : `Redis answered with an error (${code})`),
  );
}

const final = (failure: PromptHistoryFailure): SearchError => ({ kind: 'final', failure });

const failed = (message: string): PromptHistoryFailure => new PromptHistoryFailure('failed', message);

const noMemoryLeft = (): PromptHistoryFailure =>
  failed(
    'Redis has no memory left for prompts: give it more (maxmemory), or let it drop the oldest (maxmemory-policy volatile-ttl)',
  );

const noQueryEngine = (found: string): PromptHistoryFailure =>
  new PromptHistoryFailure(
    'no_query_engine',
    `${found}. Use Redis 8 or later, or Redis Stack; or leave its URL out, and prompts are kept in memory`,
  );
