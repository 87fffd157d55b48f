/**
 * Requests for a vendor's short-lived key, or for a conversation that then goes on between the agent and the vendor alone
 * (WebRTC); and Google's `/batch`, whose parts are whole requests, those for keys among them. Whoever has one goes around every
 * guard and budget, on the gateway's account.
 *
 * Sources: the paths of the vendors' own SDKs (`realtime`, `chatkit`, `authTokens`), the administration APIs of OpenAI and
 * Anthropic (of which any change is refused: members, invitations, service accounts and rules are other ways to a key), and `batchPath` of
 * Google's discovery documents.
 */
import type { UpstreamKind } from '#contracts';
import { routedPath } from '#domain/llm-dialects';

const GRANTS: Readonly<Record<UpstreamKind, RegExp>> = {
  openai:
    /\/(?:realtime\/(?:client_secrets|sessions|transcription_sessions|calls)|chatkit\/sessions|organization\/.+)$/,
  gemini: /\/auth_?tokens$|^\/batch(?:\/|$)/,
  anthropic: /\/organizations\//,
};

/** @param path below the upstream's base, as it came */
export function grantsKey(kind: UpstreamKind, method: string, path: string): boolean {
  return method === 'POST' && GRANTS[kind].test(routedPath(path).toLowerCase());
}
