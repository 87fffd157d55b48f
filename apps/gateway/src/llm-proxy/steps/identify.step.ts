/**
 * Step 2: who is calling, for which agent, and which upstream. Needs only the head of the request, so a stranger is
 * refused before a byte of the body is read.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import {
  AGENT_ID,
  AGENT_ID_WORDS,
  type AgentPrincipal,
  agentScope,
  type ErrorCode,
  HEADERS,
  LIMITS,
  maySpeakFor,
  upstreamNameSchema,
} from '#contracts';
import { textOfHeader } from '#domain/auth';
import { agentKeyWanted } from '../../auth/authenticator.js';
import type { ProxyCall, Verdict } from '../proxy-call.js';
import { refused, refusedForNow } from '../refusals.js';
import type { Step } from '../step.js';
import { carriedKeys, queryKey } from '../upstreams/carried-keys.js';
import { grantsKey } from '../upstreams/key-grants.js';
import { pathBelow } from '../upstreams/path-below.js';
import {
  type UpstreamDirectory,
  type UpstreamTarget,
  variableName,
} from '../upstreams/upstream-directory.js';

export interface IdentifyParts {
  /** @see Authenticator.agent */
  authenticate: (
    authorization: string | undefined,
    observatoryKey: string | undefined,
  ) => AgentPrincipal | null;
  /** @see Authenticator.agentFor */
  agentFor: (principal: AgentPrincipal, tenantId: string) => AgentPrincipal | null;
  upstreams: Pick<UpstreamDirectory, 'find' | 'list'>;
  /** Told of each call that is refused before there is anybody whose record it could be. */
  onRefused: (code: ErrorCode) => void;
}

export const identifyStep = (parts: IdentifyParts): Step => ({
  name: 'identify',
  onFailure: 'closed',
  run(call: ProxyCall): Verdict | undefined {
    const verdict = identify(parts, call);
    if (verdict?.kind === 'refuse') parts.onRefused(verdict.code);
    return verdict;
  },
});

function identify(
  { authenticate, agentFor, upstreams }: IdentifyParts,
  call: ProxyCall,
): Verdict | undefined {
  const { headers } = call.incoming;
  if (isEmbedding(headers)) return NAVIGATION;
  if (headers['sec-websocket-key'] !== undefined) {
    call.answerHeaders = { upgrade: 'HTTP/1.1' };
    return WEBSOCKET;
  }
  if (call.incoming.method === 'TRACE') return TRACE;
  if (METHOD_OVERRIDES.some((name) => headers[name] !== undefined)) return METHOD_OVERRIDE;
  if (isPreflight(call.incoming)) return PREFLIGHT;
  const ownKey = text(headers[HEADERS.agentKey]);
  const keyInHeader = ownKey ?? vendorKey(headers);
  const keyInQuery = (headers.authorization ?? keyInHeader) ? undefined : queryKey(call.target.query);
  const known = authenticate(headers.authorization, keyInHeader ?? keyInQuery);
  if (known === null) return UNKNOWN_KEY;
  call.principal = known;

  const principal = agentFor(known, text(headers[HEADERS.tenant]) ?? known.tenant_id);
  if (principal === null) return OTHER_TENANT;
  call.principal = principal;

  const named = text(headers[HEADERS.agent]);
  const ownId = principal.agent_ids?.[0] ?? principal.key_name;
  const agentId = named === undefined ? (call.target.agentId ?? ownId) : textOfHeader(named);
  if (agentId.length > LIMITS.idCharsMax || !AGENT_ID.test(agentId)) return BAD_AGENT;
  if (!maySpeakFor(principal, agentId)) return OTHER_AGENT;
  call.agentId = agentId;
  call.scope = agentScope(principal.tenant_id, agentId);

  const upstream = upstreams.find(principal.tenant_id, call.target.upstream);
  if (upstream === null) return unknownUpstream(call, upstreams);
  // Only Gemini's clients put their key there; anywhere else a mere link would do to make a call.
  if (keyInQuery !== undefined && upstream.kind !== 'gemini') {
    call.upstream = upstream;
    return UNKNOWN_KEY;
  }
  return meet(authenticate, call, upstream);
}

/**
 * Its upstream as it is now, for a call that may have waited since: who takes away an upstream or its key, or gives it another key, means
 * the call that hangs there, too. What was read and looked up for one address, or one kind of key, goes to no other: its client asks again.
 */
export const identifyAgainStep = ({
  authenticate,
  upstreams,
}: Pick<IdentifyParts, 'authenticate' | 'upstreams'>): Step => ({
  name: 'identify',
  onFailure: 'closed',
  run(call: ProxyCall): Verdict | undefined {
    const before = call.upstream;
    const upstream = upstreams.find(call.tenantId, call.target.upstream);
    if (upstream === before) return undefined;
    if (upstream === null) return unknownUpstream(call, upstreams);
    if (upstream.baseUrl !== before.baseUrl || upstream.kind !== before.kind) return CHANGED;
    const refusal = meet(authenticate, call, upstream);
    const isOurs = ({ apiKey }: UpstreamTarget) => apiKey !== null;
    return refusal ?? (isOurs(upstream) === isOurs(before) ? undefined : CHANGED);
  },
});

/** Where the call is to go from now on. @returns why it may not */
function meet(
  authenticate: IdentifyParts['authenticate'],
  call: ProxyCall,
  upstream: UpstreamTarget,
): Verdict | undefined {
  call.upstream = upstream;
  call.path = pathBelow(upstream, call.target.path);
  // An agent key arrived where the vendor's belongs, and we have none to put in its place.
  const isAgentKey = (key: string) => authenticate(undefined, key) !== null;
  const ownKey = text(call.incoming.headers[HEADERS.agentKey]);
  if (upstream.apiKey === null && (ownKey === undefined || keysOf(call).some(isAgentKey)))
    return noVendorKey(upstream.name);
  if (upstream.apiKey !== null && grantsKey(upstream.kind, call.incoming.method as string, call.path))
    return KEY_GRANT;
  return undefined;
}

/**
 * A page, a frame, a script, a worker: what a browser fetches in order to use it, with no program asking. The
 * destination of whatever a program asks for with `fetch` is `empty`; what is no browser names none.
 */
const isEmbedding = (headers: IncomingHttpHeaders): boolean =>
  (headers['sec-fetch-dest'] ?? 'empty') !== 'empty' || headers['sec-fetch-mode'] === 'navigate';

/** It never carries a key: a browser asks ahead whether it may send one. */
const isPreflight = ({ method, headers }: IncomingMessage): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

/** Google's APIs and many frameworks take the method from there; the guards do not. */
const METHOD_OVERRIDES = ['x-http-method-override', 'x-http-method', 'x-method-override'];

const keysOf = ({ incoming, target }: ProxyCall): string[] => carriedKeys(incoming.rawHeaders, target.query);

/** Without `x-observatory-key`, the agent key stands where the vendor's SDK puts its own. */
function vendorKey(headers: IncomingHttpHeaders): string | undefined {
  if (headers.authorization !== undefined) return undefined;
  return text(headers['x-api-key']) ?? text(headers['x-goog-api-key']) ?? text(headers['api-key']);
}

const text = (value: string | string[] | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

const UNKNOWN_KEY = refused(
  'unauthorized',
  agentKeyWanted(' as the API key, or in the header x-observatory-key'),
);
const NAVIGATION = refused('navigation_refused');
const PREFLIGHT = refused(
  'origin_refused',
  'No page of another origin may call the proxy: whoever opens it could read its agent key. Call the proxy from a server, or from a page of its own origin.',
);
/** Codex goes on over HTTP at this status alone. */
const WEBSOCKET = refused('websocket_refused');
const TRACE = refused(
  'invalid_request',
  "The proxy passes no TRACE on: the answer is the request as it arrived, with the gateway's key in it.",
);
const METHOD_OVERRIDE = refused(
  'invalid_request',
  'Send the request by the method that it means: the proxy passes no x-http-method-override on.',
);
const KEY_GRANT = refused(
  'forbidden',
  "With the gateway's own key the proxy asks no vendor for another one, for a change of its account or for a bundle of requests: they lead around every guard and budget. Use the HTTP API, or an upstream that passes your own key on.",
);
const OTHER_TENANT = refused('forbidden', 'This agent key may not act for the tenant named in x-tenant-id.');
const OTHER_AGENT = refused(
  'forbidden',
  'This agent key may not speak for the agent that the call names. An administrator makes keys for others under Settings > Agent keys.',
);
const BAD_AGENT = refused(
  'invalid_request',
  `x-observatory-agent: give, in 1 to ${LIMITS.idCharsMax} characters, ${AGENT_ID_WORDS}.`,
);

/** A refusal names no more of them; a tenant may have hundreds. */
const NAMED_UPSTREAMS_MAX = 20;

function unknownUpstream(call: ProxyCall, upstreams: IdentifyParts['upstreams']): Verdict {
  const name = call.target.upstream;
  const known = upstreams.list(call.tenantId).map((one) => one.name);
  const named = known.slice(0, NAMED_UPSTREAMS_MAX).join(', ');
  const more = known.length > NAMED_UPSTREAMS_MAX ? ', and more' : '';
  const variable = upstreamNameSchema.safeParse(name).success ? variableName(name) : '<NAME>';
  return refused(
    'upstream_not_found',
    `No upstream is named ${JSON.stringify(name.slice(0, 63))}; there are ${named}${more}. Its name follows /proxy/ in the ` +
      `base URL, such as /proxy/openai/v1. Another one is added by OBSERVATORY_UPSTREAM_${variable}_URL, or under Settings > Upstreams.`,
  );
}
const CHANGED = refusedForNow('upstream_changed');
const noVendorKey = (name: string): Verdict =>
  refused(
    'unauthorized',
    `The upstream ${name} has no key here. Send your own vendor key as the API key and the agent key in x-observatory-key, ` +
      `or give the gateway a key: OBSERVATORY_UPSTREAM_${variableName(name)}_KEY, or in the settings.`,
  );
