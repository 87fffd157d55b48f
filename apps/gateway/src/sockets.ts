/**
 * Both namespaces on the gateway's own port: who gets in and how many, what a revoked key or an ended login takes away, and
 * how all of them are closed. What is said over them is the areas'.
 */
import type { Server as HttpServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Socket } from 'socket.io';
import { LIMITS, NAMESPACES } from '#contracts';
import type { Authenticator } from './auth/authenticator.js';
import type { GatewayConfig } from './config/config.js';
import { AgentSockets, type AgentSocketsParts } from './decision-log/agent-sockets.js';
import { limitSockets } from './realtime/limit-sockets.js';
import type { LiveHub } from './realtime/live-hub.js';
import { LiveSockets } from './realtime/live-sockets.js';
import type { Connection, PartialMessages } from './realtime/partial-messages.js';
import type { RealtimeEvents } from './realtime/realtime-events.js';
import { cutSlowReader, drop } from './realtime/send-buffer.js';
import { authenticateAgent, authenticateOperator, createSocketServer } from './realtime/socket-server.js';
import { StrangerConnections } from './realtime/stranger-connections.js';

/** A socket outlives its login by this at most. */
const LOGINS_LOOKED_AT_EVERY_MS = 5_000;
/** Whoever reads nothing is closed without the reason after this; less than a drain gives any of its steps. */
const FAREWELL_MS_MAX = 200;

interface SocketsParts {
  http: HttpServer;
  config: Pick<
    GatewayConfig,
    'allowedOrigins' | 'trustProxy' | 'liveSubscriberBytesMax' | 'socketsPerCredentialMax'
  >;
  authenticator: Authenticator;
  hub: LiveHub;
  partial: PartialMessages;
  events: RealtimeEvents;
  agents: Omit<AgentSocketsParts, 'namespace' | 'authenticate' | 'isInForce'>;
}

export interface Sockets {
  readonly live: LiveSockets;
  /** Says why, and closes all: each once it has taken what is on its way to it, or after `FAREWELL_MS_MAX`. */
  close(): Promise<void>;
}

export function openSockets(parts: SocketsParts): Sockets {
  const { config, authenticator, partial, events } = parts;
  const io = createSocketServer(parts.http, config, partial);
  const strangers = new StrangerConnections({
    countMax: LIMITS.strangerConnectionsMax,
    onCut: () => events.strangerCut(),
  });
  const open = new Set<Connection>();
  io.engine.on('connection', (connection: Connection) => {
    open.add(connection);
    connection.once('close', () => open.delete(connection));
    strangers.add(connection);
    cutSlowReader(connection, {
      bytesMax: config.liveSubscriberBytesMax,
      strangerBytesMax: LIMITS.partialMessageBytesFree,
      socketOf: partial.socketOf,
      onCut: (socket, pendingBytes) => events.cutForSlowness(socket?.data.principal, pendingBytes),
    });
  });
  const namespaces = Object.values(NAMESPACES).map((name) => io.of(name));
  const live = new LiveSockets({
    namespace: io.of(NAMESPACES.operators),
    hub: parts.hub,
    authenticate: (socket) => authenticateOperator(authenticator, socket, config),
    events,
  });
  const agents = new AgentSockets({
    ...parts.agents,
    namespace: io.of(NAMESPACES.agents),
    authenticate: (socket) => authenticateAgent(authenticator, socket),
    isInForce: (principal) => authenticator.isInForce(principal),
  });
  const limit = (name: string, credentialId: (socket: Socket) => string) =>
    limitSockets(io.of(name), {
      perCredentialMax: config.socketsPerCredentialMax,
      credentialId,
      onRefused: () => events.refusedForCount(name),
    });
  limit(NAMESPACES.operators, (socket) => socket.data.credential.token_id);
  limit(NAMESPACES.agents, (socket) => socket.data.principal.key_id);
  for (const namespace of namespaces)
    namespace.on('connection', (socket) => {
      partial.admit(socket);
      strangers.admit(socket);
    });
  authenticator.onRevoked(({ kind }) => {
    if (kind === 'agent_key') agents.recheck();
    else live.recheck();
  });
  // Nothing happens when a login's days are over: somebody has to look.
  const lookingAtLogins = setInterval(() => live.recheck(), LOGINS_LOOKED_AT_EVERY_MS).unref();
  return {
    live,
    async close() {
      clearInterval(lookingAtLogins);
      for (const namespace of namespaces) namespace.emit('cut', { reason: 'draining' });
      const connections = [...open];
      // One whose other end answers no goodbye would be waited for.
      setTimeout(() => connections.forEach(drop), FAREWELL_MS_MAX).unref();
      const closed = connections.map(
        (connection) =>
          new Promise((settle) => {
            connection.once('close', settle);
            connection.close();
          }),
      );
      await Promise.race([Promise.all(closed), delay(FAREWELL_MS_MAX, undefined, { ref: false })]);
      io.engine.close();
    },
  };
}
