/** The Socket.IO server on the gateway's own port: one engine, two namespaces, Origin checked before either. */
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import { Server, type Socket } from 'socket.io';
import type { AgentPrincipal, OperatorPrincipal } from '#contracts';
import { ERRORS, LIMITS, PING_EVERY_MS } from '#contracts';
import { isOwnPage } from '#domain/auth';
import type { Authenticator, SocketOutcome } from '../auth/authenticator.js';
import type { GatewayConfig } from '../config/config.js';
import { API_HEADERS } from '../errors/security-headers.js';
import { askedHost } from '../forwarded-host.js';
import { ignoreUpgrades } from './ignore-upgrades.js';
import type { PartialMessages } from './partial-messages.js';
import { refusedHandshake } from './refused-handshake.js';

/** Which pages are ours. */
type OwnPages = Pick<GatewayConfig, 'allowedOrigins' | 'trustProxy'>;

const CONNECT_TIMEOUT_MS = 10_000;
/** HTTP's words for this name a header, which a browser's socket cannot send. */
const NOT_SIGNED_IN = {
  ok: false,
  code: 'unauthorized',
  detail:
    'Sign in, or send a valid operator token in the handshake: auth: { token: <operator token> }. An administrator makes operator tokens under Settings > Operators.',
} as const;
const NOT_SERVED = refusedHandshake('not_found', 'Connect to /live or /agents.');

export function createSocketServer(http: HttpServer, config: OwnPages, partial: PartialMessages): Server {
  const server = new Server(http, {
    serveClient: false,
    connectTimeout: CONNECT_TIMEOUT_MS,
    pingInterval: PING_EVERY_MS,
    maxHttpBufferSize: LIMITS.bodyBytesMax,
    perMessageDeflate: false,
    cors: { origin: [...config.allowedOrigins], credentials: true },
    allowRequest: (request, answer) => answer(ERRORS.origin_refused.text, isAllowedOrigin(request, config)),
    destroyUpgrade: false,
    wsEngine: partial.webSocketServer(),
  });
  server.engine.use(asData);
  server.engine.use(partial.bodyOfPolling);
  server.engine.on('connection', partial.inspectPackets);
  ignoreUpgrades(http, `${server.path()}/`);
  // It is there whether anybody serves it or not; a socket in no namespace is cut after `connectTimeout`.
  server.of('/').use((_socket, next) => next(NOT_SERVED));
  return server;
}

/** Polled, it is an answer as any other of the API. */
function asData(_request: IncomingMessage, response: ServerResponse, next: () => void): void {
  for (const [name, value] of Object.entries(API_HEADERS)) response.setHeader(name, value);
  next();
}

/** Programs send no Origin; a browser always does, and then it must be one of ours. */
function isAllowedOrigin({ headers }: IncomingMessage, { allowedOrigins, trustProxy }: OwnPages): boolean {
  const { origin } = headers;
  const host = askedHost(headers, trustProxy);
  return origin === undefined || isOwnPage({ origin, host, secFetchSite: undefined }, allowedOrigins);
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Asked again whenever something is revoked; an operator already let in keeps its principal. */
export function authenticateOperator(
  authenticator: Authenticator,
  socket: Socket,
  { trustProxy }: Pick<GatewayConfig, 'trustProxy'>,
): SocketOutcome {
  const { principal } = socket.data as { principal?: OperatorPrincipal };
  if (principal) return principal.isInForce() ? { ok: true, principal } : NOT_SIGNED_IN;
  const { headers, auth } = socket.handshake;
  const outcome = authenticator.operatorSocket({
    token: text(auth.token),
    operatorId: text(auth.operator_id),
    tenantHeader: text(auth.tenant_id),
    cookie: headers.cookie,
    origin: headers.origin,
    secFetchSite: text(headers['sec-fetch-site']),
    host: askedHost(headers, trustProxy),
  });
  if (!outcome.ok) return outcome.code === 'unauthorized' ? NOT_SIGNED_IN : outcome;
  socket.data.credential = outcome.credential;
  return outcome;
}

export function authenticateAgent(authenticator: Authenticator, socket: Socket): AgentPrincipal | null {
  const { auth, headers } = socket.handshake;
  return authenticator.agent(headers.authorization, text(auth.key) ?? text(auth.token));
}
