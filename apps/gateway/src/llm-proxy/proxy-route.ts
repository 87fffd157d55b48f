/**
 * The proxy's door: a raw route of the HTTP server, ahead of any framework, because a body must reach the upstream as it
 * came and an answer must leave as it comes. Runs the pipeline; decides nothing itself.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ObservatoryError } from '#contracts';
import { afterTurnEnd, type Clock, type IdSource, type Link, LinkedList, withThisTurn } from '#kernel';
import type { RawRoute } from '../raw-routes.js';
import { sendVerdict } from './answers/own-reply.js';
import { ProxyCall, shownMs, type Verdict } from './proxy-call.js';
import type { ProxyEvents } from './proxy-events.js';
import { isProxyUrl, parseProxyUrl } from './proxy-path.js';
import { refused, refusedForNow } from './refusals.js';
import type { Step } from './step.js';
import { unknownUpstreamTarget } from './upstreams/upstream-directory.js';

/** Calls that are made to leave end with what they wait for, which hears of it at once; the limiter's store may be slow. */
const LEAVE_MS_MAX = 1_000;
const DRAIN_LOOK_INTERVAL_MS = 20;

/** Each step that reads all of so much takes milliseconds, and others wait for no more than one of them. */
const LONG_BODY_BYTES = 1024 * 1024;

/** A step that took less and found nothing is no bar of the waterfall. */
const WATERFALL_MS_MIN = 0.1;

export interface ProxyRouteParts {
  steps: readonly Step[];
  clock: Clock;
  ids: IdSource;
  events: Pick<ProxyEvents, 'failedOpen' | 'failedClosed' | 'turnedAway'>;
  isDraining: () => boolean;
}

export class ProxyRoute implements RawRoute {
  readonly #parts: ProxyRouteParts;
  readonly #running = new LinkedList<ProxyCall>();

  constructor(parts: ProxyRouteParts) {
    this.#parts = parts;
  }

  /** Calls under way, oldest first. */
  get running(): Iterable<ProxyCall> {
    return this.#running;
  }

  handles(_method: string, url: string): boolean {
    return isProxyUrl(url);
  }

  handle(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { clock, ids, isDraining } = this.#parts;
    const target = parseProxyUrl(incoming.url ?? '');
    const call = new ProxyCall(
      ids.next(),
      clock.nowMs(),
      target ?? { upstream: '', agentId: null, path: '', query: '' },
      incoming,
      outgoing,
    );
    call.upstream = unknownUpstreamTarget(call.target.upstream);
    outgoing.on('close', () => {
      if (!outgoing.writableFinished) call.leave();
    });
    outgoing.on('error', () => call.leave());
    const refusal = target === null ? BAD_PATH : isDraining() ? DRAINING : null;
    if (refusal === null) {
      const running = this.#running.add(call);
      withThisTurn(() => void this.#run(call, running));
    } else {
      this.#parts.events.turnedAway(refusal.code);
      sendVerdict(call, refusal);
      dropUnread(incoming);
    }
  }

  /**
   * Resolves when no call is under way. What has not ended within `waitMs` is broken off with its connection, and
   * recorded and charged like any call that ends early; were it left to the process's end, nobody would ever count it.
   */
  async drain(waitMs: number): Promise<void> {
    await this.#ended(waitMs);
    for (const call of this.#running) {
      call.wasShutDown = true;
      call.detail = 'The gateway shut down before the answer was complete.';
      call.incoming.socket.destroy();
      call.leave();
    }
    await this.#ended(LEAVE_MS_MAX);
  }

  async #ended(waitMs: number): Promise<void> {
    const untilMs = performance.now() + waitMs;
    while (this.#running.size > 0 && performance.now() < untilMs)
      await new Promise((resolve) => setTimeout(resolve, DRAIN_LOOK_INTERVAL_MS));
  }

  /** Never rejects. One frame for the whole call: each that waits is held in memory for as long. */
  async #run(call: ProxyCall, running: Link<ProxyCall>): Promise<void> {
    const unwatch = call.outgoing.socket === null ? watchQueued(call) : null;
    let reachedCount = 0;
    let verdict: Verdict | undefined;
    let endMs = call.elapsedMs();
    for (const step of this.#parts.steps) {
      if (step.readsAll && call.bodyBytes >= LONG_BODY_BYTES) await nextTurn();
      if (call.isGone) break;
      const startMs = endMs;
      let outcome = 'passed';
      reachedCount += 1;
      call.finding = null;
      try {
        const result = step.run?.(call);
        verdict = result instanceof Promise ? await result : result;
        outcome = verdict?.decision ?? call.finding ?? 'passed';
      } catch (error) {
        outcome = 'failed';
        verdict = this.#onFailure(step, call, error);
      }
      endMs = call.durationMs || call.elapsedMs();
      const durationMs = endMs - startMs;
      if (durationMs >= WATERFALL_MS_MIN || outcome !== 'passed')
        call.waterfall = call.waterfall.concat({
          name: step.name,
          start_ms: shownMs(startMs),
          duration_ms: shownMs(durationMs),
          outcome,
        });
      if (verdict !== undefined) break;
    }
    if (verdict !== undefined) sendVerdict(call, verdict);
    else if (call.isGone && !call.leftAtEnd && call.decision !== 'upstream_failed') {
      call.decision = 'aborted';
      call.status = 499;
      call.detail ??= 'The client left before its answer was complete.';
    }
    call.durationMs ||= call.elapsedMs();
    // What the steps have left to do is nothing that the client of a verdict waits for.
    if (verdict !== undefined) await afterTurnEnd();
    for (let at = reachedCount - 1; at >= 0; at -= 1) this.#settle(this.#parts.steps[at] as Step, call);
    unwatch?.();
    this.#running.delete(running);
    dropUnread(call.incoming);
  }

  /** What the caller did wrong is told; what we did wrong is counted, and closes or opens as the step says. */
  #onFailure(step: Step, call: ProxyCall, error: unknown): Verdict | undefined {
    if (error instanceof ObservatoryError) {
      const { code, detail, extra } = error;
      return {
        kind: 'refuse',
        decision: 'refused',
        code,
        detail,
        ...(extra.retryAfterSeconds !== undefined && { retryAfterSeconds: extra.retryAfterSeconds }),
      };
    }
    if (step.onFailure === 'open') {
      this.#parts.events.failedOpen(step.name, error);
      return undefined;
    }
    this.#parts.events.failedClosed(step.name, call.id, error);
    return { kind: 'refuse', decision: 'refused', code: 'internal_error' };
  }

  #settle(step: Step, call: ProxyCall): void {
    try {
      step.settle?.(call);
    } catch (error) {
      this.#parts.events.failedOpen(step.name, error);
    }
  }
}

/** What nobody read would be taken for the next request. */
function dropUnread(incoming: IncomingMessage): void {
  if (!incoming.complete) incoming.resume();
}

/**
 * A response behind another of its connection has no socket yet, and is not told when the connection ends (Node 20).
 *
 * @returns ends the watch
 */
function watchQueued(call: ProxyCall): () => void {
  const { socket } = call.incoming;
  const leave = () => call.leave();
  // One for each call that a client sends ahead is no leak.
  socket.setMaxListeners(0).on('close', leave);
  return () => socket.off('close', leave);
}

const BAD_PATH = refused(
  'invalid_request',
  'Not a path of the proxy. Base URLs: /proxy/openai/v1, /proxy/anthropic, /proxy/gemini, /proxy/<name>/v1, each also behind /agents/<agent id>.',
);
const DRAINING = refusedForNow('draining');
