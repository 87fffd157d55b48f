/**
 * Step 4: an operator's pause holds the call until it is over; what the operator has to say goes to the model with it.
 *
 *     paused, not streaming   waits HITL_HOLD_MS, then 409 "try again" (vendors' SDKs do)
 *     paused, streaming       the same for a moment; then the stream is begun and kept alive with comments, and the
 *                             call may wait HITL_STREAM_HOLD_MS, since a begun stream cannot be told to try again
 *     terminated              403 "do not try again"
 *
 * A call whose agent is stopped, or whose key is revoked, while it waits is refused at that moment, as it would have been at
 * the door.
 * Asked again behind each step that may wait: what counts is what an operator said before the upstream had the call.
 */
import { type AgentControl, type HeldCall, ObservatoryError, type SessionKey } from '#contracts';
import { Interrupt } from '#kernel';
import type { ControlDesk } from '../../hitl/control-desk.js';
import type { AgentStanding } from '../agents/agent-standing.js';
import { ownHeaders, UNBUFFERED } from '../answers/own-reply.js';
import type { HeldCalls } from '../calls/held-calls.js';
import type { WaitingCalls } from '../calls/waiting-calls.js';
import type { ProxyCall, Verdict } from '../proxy-call.js';
import { takesWords } from '../requests/takes-words.js';
import { holdExpired, PAUSED_RETRY_AFTER_SECONDS, terminated } from '../sessions/stopped-session.js';
import type { Step } from '../step.js';

/** Silence before a held stream is begun: a pause that ends sooner leaves the upstream's own status and headers. */
const STREAM_QUIET_MS = 5_000;
/** Between two comments: below the idle limits of common load balancers. */
const KEEP_ALIVE_INTERVAL_MS = 10_000;

export interface HoldParts {
  desk: Pick<
    ControlDesk,
    'recall' | 'answerForCall' | 'view' | 'noteProxied' | 'holdCall' | 'takeInjections'
  >;
  held: HeldCalls;
  waiting: WaitingCalls;
  standing: AgentStanding;
  holdMs: number;
  streamHoldMs: number;
  /** A call was held, or is no longer. */
  onChanged: (call: ProxyCall) => void;
  onTakeFailed: (error: unknown) => void;
}

export const holdStep = (parts: HoldParts): Step => {
  /** Given to a call that is under way: no other call of the session says them again. */
  const underWay = new Set<string>();
  const proceed = (call: ProxyCall, control: AgentControl) =>
    control.state === 'terminated'
      ? terminated(parts.desk.view(call.sessionKey as SessionKey))
      : giveWords(call, control, underWay);
  return holding(parts, proceed, underWay);
};

/** The same once more, for a call that may have waited since: whoever waits for its answer waits for no operator. */
export const holdAgainStep = (hold: Step): Step => ({
  name: hold.name,
  onFailure: hold.onFailure,
  run(call: ProxyCall): Verdict | undefined | Promise<Verdict | undefined> {
    const result = hold.run?.(call);
    if (result instanceof Promise || call.injections.length > 0) call.cacheTicket?.land?.(null);
    return result;
  },
});

type Proceed = (call: ProxyCall, control: AgentControl) => Verdict | undefined;

const holding = (parts: HoldParts, proceed: Proceed, underWay: Set<string>): Step => ({
  name: 'hold',
  onFailure: 'closed',
  run(call: ProxyCall): Verdict | undefined | Promise<Verdict | undefined> {
    const refused = parts.standing(call);
    if (refused !== undefined) return refused;
    const { sessionKey } = call;
    if (sessionKey === null) return undefined;
    const look = (): Verdict | undefined | Promise<Verdict | undefined> => {
      parts.desk.noteProxied(sessionKey);
      const control = parts.desk.answerForCall(sessionKey);
      return control.state === 'paused' ? hold(parts, call, proceed) : proceed(call, control);
    };
    // Awaiting what is known would cost every call a turn, for nothing.
    const recalled = parts.desk.recall(sessionKey);
    return recalled === null ? look() : recalled.then(() => (call.isGone ? undefined : look()));
  },
  /** Words of an operator are taken once the upstream has them; a call that never got there leaves them for the next. */
  settle({ sessionKey, takenDirectiveIds, wasHeard }: ProxyCall): void {
    if (sessionKey === null || takenDirectiveIds.length === 0) return;
    const taken = wasHeard ? parts.desk.takeInjections(sessionKey, takenDirectiveIds) : Promise.resolve();
    void taken.catch(parts.onTakeFailed).finally(() => {
      for (const id of takenDirectiveIds) underWay.delete(id);
    });
  },
});

async function hold(parts: HoldParts, call: ProxyCall, proceed: Proceed): Promise<Verdict | undefined> {
  const fromMs = call.elapsedMs();
  call.letGoOfParsed();
  const over = new Interrupt();
  const stop = () => over.raise();
  const wait = parts.waiting.enter(call, parts.standing, stop);
  const release = parts.held.enter(call.tenantId, heldView(call));
  parts.onChanged(call);
  const { onGone } = call;
  call.onGone = stop;
  try {
    const control = await waitOut(parts, call, over);
    if (call.isGone) return undefined;
    // The hour may have passed meanwhile, which nobody tells.
    const refused = wait.look();
    if (refused !== undefined) return refused;
    return control.state === 'paused'
      ? holdExpired(parts.desk.view(call.sessionKey as SessionKey))
      : proceed(call, control);
  } catch (error) {
    if (error instanceof ObservatoryError && error.code === 'too_many_polls') return TOO_MANY;
    throw error;
  } finally {
    call.onGone = onGone;
    call.heldMs += call.elapsedMs() - fromMs;
    wait.end();
    release();
    parts.onChanged(call);
  }
}

function waitOut(parts: HoldParts, call: ProxyCall, interrupt: Interrupt): Promise<AgentControl> {
  const comment = keepAlive(call);
  return comment === null
    ? parts.desk.holdCall(call.sessionKey as SessionKey, { waitMs: parts.holdMs, interrupt })
    : waitOutStream(parts, call, comment, interrupt);
}

async function waitOutStream(
  { desk, holdMs, streamHoldMs }: HoldParts,
  call: ProxyCall,
  comment: string,
  interrupt: Interrupt,
): Promise<AgentControl> {
  const key = call.sessionKey as SessionKey;
  const control = await desk.holdCall(key, { waitMs: Math.min(STREAM_QUIET_MS, holdMs), interrupt });
  if (control.state !== 'paused' || interrupt.isRaised) return control;
  beginStream(call, comment);
  const timer = setInterval(() => call.outgoing.write(comment), KEEP_ALIVE_INTERVAL_MS);
  try {
    return await desk.holdCall(key, { waitMs: streamHoldMs, interrupt });
  } finally {
    clearInterval(timer);
  }
}

/** The comment that keeps this call's stream alive; null where there is no stream or it knows no comments. */
function keepAlive({ summary, dialect, target }: ProxyCall): string | null {
  if (!summary?.stream || dialect === null) return null;
  if (dialect.name === 'gemini' && !/[?&]alt=sse\b/.test(target.query)) return null;
  return dialect.keepAliveComment;
}

function beginStream(call: ProxyCall, comment: string): void {
  // By an earlier pause: a call may be held twice.
  if (!call.outgoing.headersSent)
    call.outgoing.writeHead(200, [
      ...ownHeaders(call, call.answerHeaders, false),
      ...['content-type', 'text/event-stream; charset=utf-8'],
      ...['cache-control', 'no-cache'],
      ...UNBUFFERED,
    ]);
  call.outgoing.write(comment);
}

function giveWords(call: ProxyCall, control: AgentControl, underWay: Set<string>): undefined {
  const words = control.directives.filter(
    ({ type, directive_id }) => type === 'inject' && !underWay.has(directive_id),
  );
  const texts = words.map((directive) => directive.prompt ?? '');
  // What this request has no place for waits for the next.
  if (words.length === 0 || !takesWords(call, texts[0] as string)) return;
  call.injections = [...call.injections, ...texts];
  const ids = words.map((directive) => directive.directive_id);
  call.takenDirectiveIds = [...call.takenDirectiveIds, ...ids];
  for (const id of ids) underWay.add(id);
}

const heldView = (call: ProxyCall): HeldCall => ({
  call_id: call.id,
  agent_id: call.agentId,
  session_id: call.sessionId ?? '',
  model: call.summary?.model ?? null,
  since_ms: Math.round(call.startedAtMs + call.elapsedMs()),
});

const TOO_MANY: Verdict = {
  kind: 'refuse',
  decision: 'hold_expired',
  code: 'too_many_held_calls',
  shouldRetry: true,
  retryAfterSeconds: PAUSED_RETRY_AFTER_SECONDS,
};
