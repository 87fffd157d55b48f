/**
 * The `/live` namespace: operators subscribe to topics. Authenticated before `connection`, scoped to the
 * operator's tenant. Knows nothing of what the topics carry.
 */
import type { DefaultEventsMap, Namespace, Socket } from 'socket.io';
import {
  type Frame,
  LIVE_EVENTS,
  mayRole,
  ObservatoryError,
  type OperatorPrincipal,
  type SubscribeAck,
  subscribeSchema,
  type Topic,
} from '#contracts';
import type { SocketOutcome } from '../auth/authenticator.js';
import { isOurs } from '../errors/refusal.js';
import { isTopic, type LiveHub, type Subscription } from './live-hub.js';
import { refusedHandshake } from './refused-handshake.js';

/** Topics one socket may follow at once. */
const TOPICS_PER_SOCKET_MAX = 50;
/** Subscriptions of one socket whose snapshots are being read: the store's reads are everybody's. */
const SUBSCRIBING_PER_SOCKET_MAX = 50;

export interface LiveSocketsEvents {
  connected(): void;
  subscribeFailed(error: unknown): void;
}

interface LiveData {
  /** Whom the namespace let in. */
  principal: OperatorPrincipal;
  /** Topics it follows; absent until the first. */
  joined?: Set<string>;
}
type LiveSocket = Socket<DefaultEventsMap, DefaultEventsMap, DefaultEventsMap, LiveData>;

interface LiveSocketsOptions {
  namespace: Namespace<DefaultEventsMap, DefaultEventsMap, DefaultEventsMap, LiveData>;
  hub: LiveHub;
  /** Reads the handshake, and is asked again of who was let in. */
  authenticate: (socket: LiveSocket) => SocketOutcome;
  events: LiveSocketsEvents;
}

/** A topic that a socket follows or is about to. */
interface Following {
  /** Subscriptions to it whose snapshots are being read. */
  subscribingCount: number;
}
type Subscriptions = Map<string, Following>;
type Acknowledge = (ack: SubscribeAck) => void;

const room = (tenantId: string, topic: string): string => `${tenantId}|${topic}`;

const refusal = (reason: string, detail: string): SubscribeAck => ({ status: 'error', reason, detail });

const TOO_MANY_SUBSCRIBING = `At most ${SUBSCRIBING_PER_SOCKET_MAX} subscriptions per socket at once; wait for an answer first.`;

const isJoined = (socket: LiveSocket, topic: string): boolean => socket.data.joined?.has(topic) ?? false;

export class LiveSockets {
  readonly #options: LiveSocketsOptions;

  constructor(options: LiveSocketsOptions) {
    this.#options = options;
    options.namespace.use((socket, next) => {
      const outcome = options.authenticate(socket);
      if (!outcome.ok) next(refusedHandshake(outcome.code, outcome.detail));
      else if (!mayRole(outcome.principal.role, 'observe')) next(refusedHandshake('forbidden'));
      else {
        socket.data.principal = outcome.principal;
        next();
      }
    });
    options.namespace.on('connection', (socket) => this.#onConnection(socket));
  }

  get subscriberCount(): number {
    return this.#options.namespace.sockets.size;
  }

  /** Encoded once for all of the topic's subscribers, and not at all for none. */
  send(tenantId: string, frame: Frame): void {
    const { namespace } = this.#options;
    const name = room(tenantId, frame.topic);
    if (namespace.adapter.rooms.has(name)) namespace.to(name).emit(LIVE_EVENTS.frame, frame);
  }

  /** Cuts the sockets for which `authenticate` no longer holds, after a token or login was revoked or a login ran out. */
  recheck(): void {
    for (const socket of this.#options.namespace.sockets.values()) {
      if (this.#options.authenticate(socket).ok) continue;
      socket.emit(LIVE_EVENTS.cut, { reason: 'unauthorized' });
      socket.disconnect(true);
    }
  }

  #onConnection(socket: LiveSocket): void {
    /** The value tells one subscription from its successor. */
    const topics: Subscriptions = new Map();
    let subscribingCount = 0;
    this.#options.events.connected();
    socket.on('subscribe', (body: unknown, acknowledge: unknown) => {
      if (typeof acknowledge !== 'function') return;
      const answer = acknowledge as Acknowledge;
      if (subscribingCount >= SUBSCRIBING_PER_SOCKET_MAX) {
        answer(refusal('rate_limited', TOO_MANY_SUBSCRIBING));
        return;
      }
      subscribingCount += 1;
      this.#subscribe(socket, topics, body, answer)
        .catch((error: unknown) => answer(this.#failure(error)))
        .finally(() => {
          subscribingCount -= 1;
        });
    });
    socket.on('unsubscribe', (body: unknown, acknowledge: unknown) => {
      const topic = (body as { topic?: unknown } | null)?.topic;
      if (typeof topic === 'string' && topics.delete(topic)) this.#leave(socket, topic);
      if (typeof acknowledge === 'function') acknowledge({ status: 'ok' });
    });
    socket.on('disconnect', () => {
      for (const topic of topics.keys()) this.#leave(socket, topic);
      topics.clear();
    });
  }

  /** A refusal of the catalogue, such as a busy store's, is told as it is; anything else is ours to look at. */
  #failure(error: unknown): SubscribeAck {
    const isKnown = error instanceof ObservatoryError;
    if (!isKnown || isOurs(error)) this.#options.events.subscribeFailed(error);
    if (isKnown) return error.toAnswer();
    return refusal('internal_error', 'The snapshot could not be read; try again.');
  }

  async #subscribe(
    socket: LiveSocket,
    topics: Subscriptions,
    body: unknown,
    acknowledge: Acknowledge,
  ): Promise<void> {
    const { tenant_id } = socket.data.principal;
    const request = subscribeSchema.safeParse(body);
    if (!request.success) {
      acknowledge(refusal('invalid_fields', 'Send {topic: string, after_seq?: non-negative integer}.'));
      return;
    }
    const { topic, after_seq } = request.data;
    if (!isTopic(topic)) {
      acknowledge(refusal('not_found', `There is no topic ${JSON.stringify(topic)}.`));
      return;
    }
    if (!topics.has(topic) && topics.size >= TOPICS_PER_SOCKET_MAX) {
      acknowledge(
        refusal(
          'rate_limited',
          `At most ${TOPICS_PER_SOCKET_MAX} topics per socket; unsubscribe from one first.`,
        ),
      );
      return;
    }
    // Until there is a newer snapshot nothing is to build on; another that is under way goes on.
    if (isJoined(socket, topic)) this.#leave(socket, topic);
    // Of several at once the first that is ready joins, and each has its own answer.
    const following = topics.get(topic) ?? { subscribingCount: 0 };
    topics.set(topic, following);
    following.subscribingCount += 1;
    const isWanted = () => topics.get(topic) === following;
    try {
      const subscription = await this.#options.hub.subscribe(tenant_id, topic, after_seq);
      if (subscription === null) acknowledge(refusal('session_not_found', 'No such session in this tenant.'));
      else this.#join(socket, topic, subscription, isWanted(), acknowledge);
    } finally {
      following.subscribingCount -= 1;
      // It came to nothing: no place is kept for it.
      if (isWanted() && following.subscribingCount === 0 && !isJoined(socket, topic)) topics.delete(topic);
    }
  }

  #join(
    socket: LiveSocket,
    topic: Topic,
    { ack, rest }: Subscription,
    isWanted: boolean,
    acknowledge: Acknowledge,
  ): void {
    const { tenant_id } = socket.data.principal;
    if (!isWanted) {
      this.#options.hub.release(tenant_id, topic);
      acknowledge(refusal('unsubscribed', 'The topic was unsubscribed from before its snapshot was read.'));
      return;
    }
    acknowledge(ack);
    if (rest) socket.emit(LIVE_EVENTS.frame, rest);
    if (isJoined(socket, topic)) {
      this.#options.hub.release(tenant_id, topic);
      return;
    }
    socket.join(room(tenant_id, topic));
    socket.data.joined ??= new Set();
    socket.data.joined.add(topic);
  }

  #leave(socket: LiveSocket, topic: string): void {
    const { tenant_id } = socket.data.principal;
    if (!socket.data.joined?.delete(topic)) return;
    socket.leave(room(tenant_id, topic));
    if (isTopic(topic)) this.#options.hub.release(tenant_id, topic);
  }
}
