/**
 * A vendor's call that came past the proxy: its base URL ends before `/proxy/...`. Vendors' SDKs show no more of an error than
 * their vendor's shape holds, so that of our own 404 they would say "no body".
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ERRORS, type UpstreamKind } from '#contracts';
import { defaultDialect } from '#domain/llm-dialects';
import { API_HEADERS } from '../errors/security-headers.js';
import { endOnceRead, type RawRoute } from '../raw-routes.js';

/** Ends of the paths that SDKs post to, by vendor. */
const ENDS: readonly (readonly [UpstreamKind, RegExp])[] = [
  ['openai', /\/(?:completions|responses|embeddings)$/],
  ['anthropic', /\/messages(?:\/count_tokens)?$/],
  ['gemini', /\/(?:models\/[^/]+:\w+|interactions)$/],
];
const BASE_URLS: Readonly<Record<UpstreamKind, string>> = {
  openai: '/proxy/openai/v1, or /proxy/<name>/v1 for another upstream',
  anthropic: '/proxy/anthropic',
  gemini: '/proxy/gemini',
};

/** To stand behind every other raw route. */
export const lostCallRoute = (): RawRoute => ({
  handles: (method, url) => method === 'POST' && kindOf(url) !== null,
  handle: (request, response) => answer(request, response, kindOf(request.url ?? '') ?? 'openai'),
});

function kindOf(url: string): UpstreamKind | null {
  const path = url.split('?', 1)[0] as string;
  return ENDS.find(([, end]) => end.test(path))?.[0] ?? null;
}

function answer(request: IncomingMessage, response: ServerResponse, kind: UpstreamKind): void {
  const code = 'not_found';
  const { status } = ERRORS[code];
  const message = `There is no model at this path: the base URL has to end in ${BASE_URLS[kind]}. Only /agents/<agent id> may stand in front of that.`;
  const { contentType, body } = defaultDialect(kind).writeError({ status, code, message });
  const headers = { ...API_HEADERS, 'content-type': contentType, 'content-length': Buffer.byteLength(body) };
  // An unread rest of the request would be taken for the next one.
  response.writeHead(status, request.complete ? headers : { ...headers, connection: 'close' });
  endOnceRead(request, response, body);
}
