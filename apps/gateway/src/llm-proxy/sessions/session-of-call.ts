/**
 * The conversation a call belongs to when nobody named it: a fingerprint of who asks and how the conversation began,
 * so that an unmodified client still groups. A client that says for which end user it asks keeps users apart.
 */
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { LIMITS, type LlmRequest } from '#contracts';
import type { ProxyCall } from '../proxy-call.js';

/** A beginning longer than this is known by its head, its tail and its length: enough to tell conversations apart. */
const TEXT_CHARS_HASHED = 8_192;

/**
 * In which clients name their run, the first that is there: opencode and Kilo send two of them, pi one or the other where its
 * models are said to keep sessions (`sendSessionAffinityHeaders`). Claude Code, Codex and pi's Responses name it in the body,
 * where it counts as the end user.
 */
const RUN_HEADERS = ['x-session-affinity', 'x-session-id', 'x-opencode-session'] as const;

/** Null for a call that is no conversation. About 4 us. */
export function sessionOf({ tenantId, agentId, request, incoming }: ProxyCall): string | null {
  if (request === null) return null;
  const parts = [tenantId, agentId, ...beginningOf(request, runOf(incoming.headers))];
  const digest = hash('sha256', parts.map((part) => `${part.length}:${excerpt(part)}`).join(''));
  return `llm-${digest.slice(0, 32)}`;
}

/** A conversation that the vendor keeps begins elsewhere, and has a name. */
function beginningOf(
  { conversation, system_text, first_user_text, end_user }: LlmRequest,
  run: readonly string[],
): string[] {
  if (conversation) return [conversation];
  return [systemOf(system_text), first_user_text, end_user ?? '', ...run];
}

/**
 * It tells equal beginnings apart and joins no others: a name that a proxy in between gives to everybody changes nothing,
 * and a run's title and its subagents keep sessions of their own. Empty for none, and for what is too long for a name.
 */
function runOf(headers: IncomingHttpHeaders): string[] {
  const name = RUN_HEADERS.map((header) => headers[header]).find(Boolean);
  return typeof name === 'string' && name.length <= LIMITS.idCharsMax ? [name] : [];
}

/** One that tells the time is the same prompt a minute later. */
export const systemOf = (systemText: string): string => excerpt(systemText).replace(/\d+/g, '#');

const excerpt = (text: string): string =>
  text.length <= TEXT_CHARS_HASHED
    ? text
    : text.slice(0, TEXT_CHARS_HASHED / 2) + text.slice(-TEXT_CHARS_HASHED / 2);
