/**
 * The `/agents` namespace: DecisionLogs with an acknowledgement equal to the HTTP answer, and control pushed
 * at once. Authenticated by agent key before `connection`.
 *
 *     client: emit('decision_log', log | log[], ack)
 *     client: emit('watch_control', {session_id}, ack)    to hear control of a session before its first log
 *     server: emit('control', {session_id, state, directives, cursor}, ack)   the ack acknowledges a pause
 */
import type { Namespace, Socket } from 'socket.io';
import { z } from 'zod';
import {
  type AgentPrincipal,
  LIMITS,
  LIVE_EVENTS,
  ObservatoryError,
  type SessionKey,
  sessionKey,
} from '#contracts';
import { holdsMessages } from '#domain/hitl';
import { parseFields } from '../errors/field-errors.js';
import { isOurs } from '../errors/refusal.js';
import type { FairShare } from '../fair-share.js';
import type { ControlDesk } from '../hitl/control-desk.js';
import { charsOf } from '../json-bounds.js';
import { refusedHandshake } from '../realtime/refused-handshake.js';
import { requireBatchSize } from './batch-size.js';
import { noRoom } from './body-reader.js';
import type { IngestRefusal } from './ingest.route.js';
import type { IngestEvents } from './ingest-events.js';
import type { IngestRate } from './ingest-rate.js';
import type { SchemaInterceptor } from './schema-interceptor.js';

/** Sessions one socket may speak for. */
const SESSIONS_PER_SOCKET_MAX = 1_000;
const ACKNOWLEDGE_TIMEOUT_MS = 10_000;

export interface AgentSocketsParts {
  namespace: Namespace;
  /** Reads the handshake; null = refuse. */
  authenticate: (socket: Socket) => AgentPrincipal | null;
  /** Asked again of who was let in, whenever a key is revoked. */
  isInForce: (principal: AgentPrincipal) => boolean;
  interceptor: SchemaInterceptor;
  refusal: () => IngestRefusal | null;
  rate: IngestRate;
  /** Of all messages from their reading to their answers, as of the bodies that come over HTTP. */
  bodyBytes: FairShare;
  events: Pick<IngestEvents, 'refused' | 'sessionLeft'>;
  desk: ControlDesk;
  onFailed: (error: unknown) => void;
}

const watchControlBody = z.strictObject({ session_id: z.string().min(1).max(LIMITS.idCharsMax) });

type Acknowledge = (answer: unknown) => void;

export class AgentSockets {
  readonly #parts: AgentSocketsParts;

  constructor(parts: AgentSocketsParts) {
    this.#parts = parts;
    parts.namespace.use((socket, next) => {
      const principal = parts.authenticate(socket);
      if (principal === null)
        next(refusedHandshake('unauthorized', 'Send auth: { key } with an agent key in the handshake.'));
      else {
        socket.data.principal = principal;
        next();
      }
    });
    parts.namespace.on('connection', (socket) => this.#onConnection(socket));
  }

  /** Cuts sockets whose key was revoked. */
  recheck(): void {
    for (const socket of this.#parts.namespace.sockets.values()) {
      if (!this.#parts.isInForce(socket.data.principal)) socket.disconnect(true);
    }
  }

  #onConnection(socket: Socket): void {
    /** Session -> how to stop hearing its control; least recently spoken for first. */
    const detachers = new Map<SessionKey, () => void>();
    socket.on(LIVE_EVENTS.decisionLog, (body: unknown, acknowledge: unknown) => {
      const answer = typeof acknowledge === 'function' ? (acknowledge as Acknowledge) : () => {};
      this.#ingest(socket, detachers, body).then(answer, (error: unknown) => answer(this.#failure(error)));
    });
    socket.on(LIVE_EVENTS.watchControl, (body: unknown, acknowledge: unknown) => {
      const answer = typeof acknowledge === 'function' ? (acknowledge as Acknowledge) : () => {};
      try {
        this.#watch(socket, detachers, parseFields(watchControlBody, body).session_id);
        answer({ status: 'ok' });
      } catch (error) {
        if (!(error instanceof ObservatoryError)) throw error;
        answer(error.toAnswer());
      }
    });
    socket.on('disconnect', () => {
      for (const detach of detachers.values()) detach();
      detachers.clear();
    });
  }

  async #ingest(socket: Socket, detachers: Map<SessionKey, () => void>, body: unknown): Promise<unknown> {
    const refusal = this.#parts.refusal();
    if (refusal !== null) throw new ObservatoryError(refusal);
    const { tenant_id, key_id } = socket.data.principal as AgentPrincipal;
    this.#parts.rate.check(key_id);
    const values: unknown[] = Array.isArray(body) ? body : [body];
    requireBatchSize(values.length);
    const chars = charsOf(body, LIMITS.jsonValuesMax);
    if (chars === null)
      throw new ObservatoryError(
        'payload_too_large',
        `The message holds more than ${LIMITS.jsonValuesMax} JSON values.`,
      );
    if (!this.#parts.bodyBytes.take(tenant_id, chars)) throw noRoom();
    try {
      this.#parts.rate.take(key_id, values.length);
      return await this.#answer(socket, detachers, { values, isBatch: Array.isArray(body) });
    } finally {
      this.#parts.bodyBytes.giveBack(tenant_id, chars);
    }
  }

  async #answer(
    socket: Socket,
    detachers: Map<SessionKey, () => void>,
    { values, isBatch }: { values: readonly unknown[]; isBatch: boolean },
  ): Promise<unknown> {
    const { tenant_id } = socket.data.principal as AgentPrincipal;
    const results = await this.#parts.interceptor.intercept(
      tenant_id,
      values.map((value) => ({ value, text: null })),
    );
    for (const result of results)
      if (result.status === 'accepted') this.#watch(socket, detachers, result.session_id);
    return isBatch ? { results } : results[0];
  }

  #watch(socket: Socket, detachers: Map<SessionKey, () => void>, sessionId: string): void {
    const { tenant_id } = socket.data.principal as AgentPrincipal;
    const key = sessionKey(tenant_id, sessionId);
    if (!socket.connected) return;
    const known = detachers.get(key);
    if (known !== undefined) {
      detachers.delete(key);
      detachers.set(key, known);
      return;
    }
    if (detachers.size >= SESSIONS_PER_SOCKET_MAX) this.#leaveOne(detachers);
    const detach = this.#parts.desk.attachListener(key, (control) => {
      socket.timeout(ACKNOWLEDGE_TIMEOUT_MS).emit(LIVE_EVENTS.control, control, (error: Error | null) => {
        // No answer in time is no acknowledgement; the operator goes on seeing "pause requested".
        if (error === null) this.#parts.desk.acknowledge(key, control.cursor).catch(this.#parts.onFailed);
      });
    });
    detachers.set(key, detach);
  }

  /** A session that is paused says nothing, and waits to hear that it may go on: it leaves only where all of them are. */
  #leaveOne(detachers: Map<SessionKey, () => void>): void {
    const [oldest] = detachers.keys();
    let leaving = oldest;
    for (const key of detachers.keys())
      if (!holdsMessages(this.#parts.desk.view(key).state)) {
        leaving = key;
        break;
      }
    if (leaving === undefined) return;
    detachers.get(leaving)?.();
    detachers.delete(leaving);
    this.#parts.events.sessionLeft();
  }

  #failure(error: unknown): unknown {
    if (error instanceof ObservatoryError) {
      if (isOurs(error)) this.#parts.onFailed(error);
      this.#parts.events.refused(error.code);
      return error.toAnswer();
    }
    this.#parts.onFailed(error);
    return new ObservatoryError('internal_error').toAnswer();
  }
}
