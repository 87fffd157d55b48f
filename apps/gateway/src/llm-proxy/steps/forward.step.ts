/**
 * Step 8: to the upstream and back, unless meanwhile the session is terminated, the agent stopped or its key revoked:
 * then the upstream is let go, and the call ends as the next one would. A pause lets the answer through; it stops before
 * the next call. The body goes as it came unless somebody has words for the model, or had and it has thought of them; the answer comes back through a
 * `Relay`. Nothing is retried: what may be tried again, the client's SDK knows better.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { UpstreamClient, UpstreamRequest } from '#adapters/upstream-http';
import { type BoundThoughts, thoughtsCounted } from '#domain/llm-dialects';
import type { FairShare } from '../../fair-share.js';
import type { ControlDesk } from '../../hitl/control-desk.js';
import type { AgentStanding } from '../agents/agent-standing.js';
import { AnswerRoom } from '../answers/answer-room.js';
import { requestHeaders } from '../answers/forwarded-headers.js';
import { Relay, type RelayParts } from '../answers/relay.js';
import type { ToldWords } from '../answers/told-words.js';
import type { RunningCalls } from '../calls/running-calls.js';
import type { WaitingCalls } from '../calls/waiting-calls.js';
import type { ProxyCall, Verdict } from '../proxy-call.js';
import { refusedForNow } from '../refusals.js';
import { roomFor } from '../requests/body-room.js';
import { changeJson } from '../requests/change-json.js';
import { terminated } from '../sessions/stopped-session.js';
import type { Step } from '../step.js';
import { withoutQueryKey } from '../upstreams/carried-keys.js';
import type { UpstreamTarget } from '../upstreams/upstream-directory.js';

export interface ForwardParts extends Omit<RelayParts, 'room' | 'answerRoom'> {
  client: Pick<UpstreamClient, 'send'>;
  control: Pick<ControlDesk, 'answerFor' | 'view' | 'onChanged'>;
  waiting: WaitingCalls;
  told: Pick<ToldWords, 'isEmpty' | 'find' | 'note'>;
  /** Of a call that is under way there. */
  standing: AgentStanding;
  running: RunningCalls;
  /** Answers that are held back count among the bodies of all calls. */
  bodyBytes: FairShare;
  /** Taken by the answers under way while they are read. */
  answerBytes: FairShare;
}

export const forwardStep = ({
  client,
  control,
  waiting,
  told,
  standing,
  running,
  bodyBytes,
  answerBytes,
  clientStallMs,
  ownOrigin,
}: ForwardParts): Step => ({
  name: 'forward',
  onFailure: 'closed',
  run(call: ProxyCall): Verdict | Promise<Verdict | undefined> {
    const { tenantId, sessionKey } = call;
    const { origin } = call.upstream;
    const request = requestOf(call, told);
    if (!running.enter(tenantId, origin)) return NO_ROOM;
    return new Promise((resolve) => {
      const room = roomFor(call, bodyBytes);
      const answerRoom = new AnswerRoom(tenantId, answerBytes);
      call.answerRoom = answerRoom;
      let unwatch = () => {};
      const relay = new Relay(call, { room, answerRoom, clientStallMs, ownOrigin, running }, (verdict) => {
        unwatch();
        wait.end();
        resolve(verdict);
      });
      const cutOff = (refusal: Verdict) => relay.cutOff({ ...refusal, decision: 'cut_off' });
      const wait = waiting.enter(call, standing, cutOff);
      if (sessionKey !== null) {
        const look = () => {
          if (control.answerFor(sessionKey).state === 'terminated')
            cutOff(terminated(control.view(sessionKey)));
        };
        unwatch = control.onChanged(sessionKey, look);
        // A change since the last look was told to nobody.
        look();
      }
      wait.look();
      running.writeTogether(() => {
        if (!relay.isOpen) {
          running.leave(tenantId, origin);
          return;
        }
        const exchange = client.send(request, relay);
        // Which may be after the call's end: its place is a socket, and an upstream that takes none keeps them waiting.
        exchange.whenLetGo(() => running.leave(tenantId, origin));
        relay.start(exchange);
      });
      call.letGoOfParsed();
    });
  },
  settle(call: ProxyCall): void {
    call.answerRoom?.leave();
    const signature = call.answer?.thinking_signature;
    if (call.toldWords !== null && signature !== undefined) told.note(call.scope, signature, call.toldWords);
  },
});

const requestOf = (call: ProxyCall, told: ForwardParts['told']): UpstreamRequest => ({
  origin: call.upstream.origin,
  path: (call.upstream.basePath + call.path || '/') + queryOf(call),
  method: call.incoming.method as string,
  headers: headersOf(call),
  body: bodyOf(call, told),
});

/** Of which nothing is kept: nobody asks for it again, and what waits for an upstream may be much. */
function bodyOf(call: ProxyCall, told: ForwardParts['told']): Buffer[] {
  const { body, dialect, injections } = call;
  if (body === null) return [];
  const tellAgain = told.isEmpty ? unchanged : againIn(call, told);
  const isTold = dialect !== null && injections.length > 0;
  if (!isTold && tellAgain === unchanged) return body.giveAway();
  if (isTold) {
    call.decision = 'hinted';
    const isBehindMessage = dialect.boundThoughts?.isBehindMessage(call.parsedBody());
    if (isBehindMessage !== undefined) call.toldWords = { words: injections, isBehindMessage };
  }
  const changed = body.read((json) =>
    changeJson(json, call.id, (request) => {
      const again = tellAgain(request);
      if (!isTold) return again;
      return injections.reduce<unknown>((so, words) => dialect.injectSystem(so, words), again);
    }),
  );
  body.giveAway();
  return [Buffer.from(changed)];
}

const unchanged = (request: unknown): unknown => request;

/** Puts what earlier requests of the conversation had where it stood in them; `unchanged` where they had nothing. */
function againIn(call: ProxyCall, told: ForwardParts['told']): typeof unchanged {
  const boundThoughts = boundIn(call);
  if (boundThoughts === undefined) return unchanged;
  const tellAgain = (request: unknown) =>
    boundThoughts.tellAgain(request, (signature) => told.find(call.scope, signature));
  const request = jsonOf(call);
  return tellAgain(request) === request ? unchanged : tellAgain;
}

const boundIn = ({ dialect, incoming, path }: ProxyCall): BoundThoughts | undefined =>
  dialect === null ? thoughtsCounted(incoming.method as string, path) : dialect.boundThoughts;

/** Null: what is counted is no JSON, which is the vendor's to refuse. */
function jsonOf(call: ProxyCall): unknown {
  try {
    return call.parsedBody();
  } catch {
    return null;
  }
}

function headersOf({ incoming, upstream, traceParent }: ProxyCall): string[] {
  const headers = requestHeaders(incoming.rawHeaders, upstream.apiKey !== null);
  if (upstream.apiKey !== null) headers.push(...credential(upstream, upstream.apiKey, incoming.headers));
  headers.push('accept-encoding', 'identity');
  if (traceParent !== null) {
    for (let at = 0; at < headers.length; at += 2)
      if (headers[at] === 'traceparent') headers[at + 1] = traceParent;
  }
  return headers;
}

/** Azure takes its own kind of key by its own header alone, by which its SDK brings one. */
function credential({ kind }: UpstreamTarget, key: string, asked: IncomingHttpHeaders): [string, string] {
  if (kind === 'anthropic') return ['x-api-key', key];
  if (kind === 'gemini') return ['x-goog-api-key', key];
  const isAzures = asked['api-key'] !== undefined && asked.authorization === undefined;
  return isAzures ? ['api-key', key] : ['authorization', `Bearer ${key}`];
}

/** Gemini takes keys in the query too: the caller's is an agent key when the upstream's is ours. */
const queryOf = ({ upstream, target: { query } }: ProxyCall): string =>
  upstream.apiKey === null ? query : withoutQueryKey(query);

const NO_ROOM = refusedForNow('too_many_calls');
