/**
 * The `/agents` namespace: DecisionLogs with an acknowledgement equal to the HTTP answer, and control pushed
 * at once. Authenticated by agent key before `connection`.
 *
 *     client: emit('decision_log', log | log[], ack)
 *     client: emit('watch_control', {session_id}, ack)    to hear control of a session before its first log
 *     server: emit('control', {session_id, state, directives, cursor}, ack)   the ack acknowledges a pause
 */
import type { DefaultEventsMap, Namespace, Socket } from 'socket.io';
import { z } from 'zod';
import { type AgentPrincipal, LIMITS, LIVE_EVENTS, ObservatoryError, sessionKey } from '#contracts';
import { agentKeyWanted } from '../auth/authenticator.js';
import { parseFields } from '../errors/field-errors.js';
import { codeToldOf, isOurs } from '../errors/refusal.js';
import type { FairShare } from '../fair-share.js';
import type { ControlDesk } from '../hitl/control-desk.js';
import { charsOf } from '../json-bounds.js';
import { refusedHandshake } from '../realtime/refused-handshake.js';
import { requireBatchSize } from './batch-size.js';
import { noRoom } from './body-reader.js';
import { HeardSessions } from './heard-sessions.js';
import type { IngestRefusal } from './ingest.route.js';
import type { IngestEvents } from './ingest-events.js';
import type { IngestRate } from './ingest-rate.js';
import type { SchemaInterceptor } from './schema-interceptor.js';

/** Sessions one socket may speak for. */
const SESSIONS_PER_SOCKET_MAX = 1_000;
const ACKNOWLEDGE_TIMEOUT_MS = 10_000;

interface AgentData {
  /** Whom the namespace let in. */
  principal: AgentPrincipal;
}
type AgentSocket = Socket<DefaultEventsMap, DefaultEventsMap, DefaultEventsMap, AgentData>;

export interface AgentSocketsParts {
  namespace: Namespace<DefaultEventsMap, DefaultEventsMap, DefaultEventsMap, AgentData>;
  /** Reads the handshake; null = refuse. */
  authenticate: (socket: AgentSocket) => AgentPrincipal | null;
  /** Asked again of who was let in, whenever a key is revoked. */
  isInForce: (principal: AgentPrincipal) => boolean;
  interceptor: SchemaInterceptor;
  refusal: (tenantId: string) => IngestRefusal | null;
  rate: IngestRate;
  /** Of all messages from their reading to their answers, as of the bodies that come over HTTP. */
  bodyBytes: FairShare;
  events: Pick<IngestEvents, 'refused' | 'sessionLeft'>;
  desk: ControlDesk;
  onFailed: (error: unknown) => void;
}

const watchControlBody = z.strictObject({ session_id: z.string().min(1).max(LIMITS.idCharsMax) });

const KEY_WANTED = agentKeyWanted(' in the handshake: auth: { key: <agent key> }');

type Acknowledge = (answer: unknown) => void;

export class AgentSockets {
  readonly #parts: AgentSocketsParts;

  constructor(parts: AgentSocketsParts) {
    this.#parts = parts;
    parts.namespace.use((socket, next) => {
      const principal = parts.authenticate(socket);
      if (principal === null) next(refusedHandshake('unauthorized', KEY_WANTED));
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
      if (this.#parts.isInForce(socket.data.principal)) continue;
      socket.emit(LIVE_EVENTS.cut, { reason: 'unauthorized' });
      socket.disconnect(true);
    }
  }

  #onConnection(socket: AgentSocket): void {
    const heard = new HeardSessions();
    socket.on(LIVE_EVENTS.decisionLog, (...said: unknown[]) => {
      const { body, answer } = saidIn(said);
      this.#ingest(socket, heard, body).then(answer, (error: unknown) => answer(this.#failure(error)));
    });
    socket.on(LIVE_EVENTS.watchControl, (...said: unknown[]) => {
      const { body, answer } = saidIn(said);
      try {
        this.#watch(socket, heard, parseFields(watchControlBody, body).session_id);
        answer({ status: 'ok' });
      } catch (error) {
        if (!(error instanceof ObservatoryError)) throw error;
        answer(error.toAnswer());
      }
    });
    socket.on('disconnect', () => heard.clear());
  }

  async #ingest(socket: AgentSocket, heard: HeardSessions, body: unknown): Promise<unknown> {
    const { tenant_id, key_id } = socket.data.principal;
    const refusal = this.#parts.refusal(tenant_id);
    if (refusal !== null) throw new ObservatoryError(refusal);
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
      return await this.#answer(socket, heard, { values, isBatch: Array.isArray(body) });
    } finally {
      this.#parts.bodyBytes.giveBack(tenant_id, chars);
    }
  }

  async #answer(
    socket: AgentSocket,
    heard: HeardSessions,
    { values, isBatch }: { values: readonly unknown[]; isBatch: boolean },
  ): Promise<unknown> {
    const { principal } = socket.data;
    const results = await this.#parts.interceptor.intercept(
      principal.tenant_id,
      values.map((value) => ({ value, text: null })),
      principal,
    );
    for (const result of results)
      if (result.status === 'accepted') this.#watch(socket, heard, result.session_id);
    return isBatch ? { results } : results[0];
  }

  #watch(socket: AgentSocket, heard: HeardSessions, sessionId: string): void {
    const { tenant_id } = socket.data.principal;
    const key = sessionKey(tenant_id, sessionId);
    if (!socket.connected) return;
    if (heard.touch(key)) return;
    if (heard.size >= SESSIONS_PER_SOCKET_MAX) {
      heard.leaveOne();
      this.#parts.events.sessionLeft();
    }
    heard.add(key, (noteState) =>
      this.#parts.desk.attachListener(key, (control) => {
        noteState(control.state === 'paused');
        socket.timeout(ACKNOWLEDGE_TIMEOUT_MS).emit(LIVE_EVENTS.control, control, (error: Error | null) => {
          // No answer in time is no acknowledgement; the operator goes on seeing "pause requested".
          if (error === null) this.#parts.desk.acknowledge(key, control.cursor).catch(this.#parts.onFailed);
        });
      }),
    );
  }

  #failure(error: unknown): unknown {
    this.#parts.events.refused(codeToldOf(error));
    if (error instanceof ObservatoryError) {
      if (isOurs(error)) this.#parts.onFailed(error);
      return error.toAnswer();
    }
    this.#parts.onFailed(error);
    return new ObservatoryError('internal_error').toAnswer();
  }
}

/** The acknowledgement that a client asks for comes last, behind what it sends, if it sends anything. */
function saidIn(said: readonly unknown[]): { body: unknown; answer: Acknowledge } {
  const last = said.at(-1);
  return typeof last === 'function'
    ? { body: said.length > 1 ? said[0] : undefined, answer: last as Acknowledge }
    : { body: said[0], answer: () => {} };
}
