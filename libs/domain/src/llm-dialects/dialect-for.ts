/** Which dialect a call speaks, by whose API the upstream is and by its path. */
import type { DialectName, UpstreamKind } from '#contracts';
import { anthropic } from './anthropic/anthropic.js';
import type { BoundThoughts, Dialect } from './dialect.js';
import { gemini } from './gemini/gemini.js';
import { geminiInteractions } from './gemini-interactions/gemini-interactions.js';
import { openaiChat } from './openai-chat/openai-chat.js';
import { openaiResponses } from './openai-responses/openai-responses.js';
import { isPostTo } from './path-match.js';

export const DIALECT_BY_NAME: Readonly<Record<DialectName, Dialect>> = Object.freeze({
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  anthropic,
  gemini,
  'gemini-interactions': geminiInteractions,
});

/** Own ones first. The others have endpoints that speak a neighbour's dialect, which paths tell apart. */
const BY_KIND: Readonly<Record<UpstreamKind, readonly Dialect[]>> = {
  openai: [openaiChat, openaiResponses, anthropic],
  anthropic: [anthropic, openaiChat],
  gemini: [gemini, geminiInteractions, openaiChat, anthropic],
};

/** Null: a path that the proxy only passes through. @param path below the upstream's base URL */
export const dialectFor = (kind: UpstreamKind, method: string, path: string): Dialect | null =>
  BY_KIND[kind].find((dialect) => dialect.matches(method, path)) ?? null;

/** Of a path where a request's tokens are counted, which its vendor checks as it does the request itself; else undefined. */
export const thoughtsCounted = (method: string, path: string): BoundThoughts | undefined =>
  isPostTo(method, path, '/messages/count_tokens') ? anthropic.boundThoughts : undefined;

/** Shapes our own errors where the path speaks none. */
export const defaultDialect = (kind: UpstreamKind): Dialect => BY_KIND[kind][0] as Dialect;
