/**
 * What follows a semantic loop. How far it goes is the ladder's to say; here it is done: the event is kept and shown, an
 * alert is raised, the session is paused. All of it behind the call, which goes on, with a hint where it has a place for one.
 */
import {
  type LivePublisher,
  type LoopAnswer,
  type ProxyStore,
  SEMANTIC_LOOP_PROMPT_CHARS_MAX,
  type SemanticLoopEvent,
  type SemanticLoopPolicy,
  type SessionKey,
  sessionTopic,
  TOPICS,
} from '#contracts';
import { redact } from '#domain/kill-switch';
import type { LoopLadder } from '#domain/semantic-loop';
import type { IdSource } from '#kernel';
import type { AlertMonitor } from '../alerts/alert-monitor.js';
import type { ControlDesk } from '../hitl/control-desk.js';
import type { SemanticLoopEvents } from './semantic-loop-events.js';

/** Events on their way to the store; further ones are shown, and not kept. */
const WRITING_COUNT_MAX = 1_000;
/** Read past the cut of a prompt, so that a secret which lies across it is known for one. */
const REDACTED_BEYOND_CHARS = 1_000;

export interface LoopingCall {
  callId: string;
  tenantId: string;
  agentId: string;
  sessionId: string;
  sessionKey: SessionKey;
  atMs: number;
  prompt: string;
  /** The hint goes to the model with it. */
  isHinted: boolean;
}

export interface LoopDeskParts {
  ladder: Pick<LoopLadder, 'decide' | 'occurrences'>;
  store: Pick<ProxyStore, 'appendSemanticLoop'>;
  live: LivePublisher;
  alerts: Pick<AlertMonitor, 'note'>;
  desk: Pick<ControlDesk, 'pauseBySystem'>;
  ids: IdSource;
  events: Pick<SemanticLoopEvents, 'found' | 'failedOpen'>;
}

export class LoopDesk {
  readonly #parts: LoopDeskParts;
  readonly #working = new Set<Promise<void>>();

  constructor(parts: LoopDeskParts) {
    this.#parts = parts;
  }

  /** Counts the loop and sets going what the policy says. Never throws. */
  note(call: LoopingCall, policy: Exclude<SemanticLoopPolicy, 'off'>, answer: LoopAnswer): SemanticLoopEvent {
    const { ladder, ids, events } = this.#parts;
    const decided = ladder.decide(policy, call.sessionKey);
    const action = decided === 'hinted' && !call.isHinted ? 'noted' : decided;
    const event: SemanticLoopEvent = {
      event_type: 'semantic_loop',
      event_id: `slp_${ids.next()}`,
      seq: 0,
      agent_id: call.agentId,
      session_id: call.sessionId,
      call_id: call.callId,
      at_ms: call.atMs,
      similarity: answer.max_similarity,
      threshold: answer.threshold,
      model_id: answer.model_id,
      prompt: redactedExcerpt(call.prompt),
      similar_prompt: redactedExcerpt(answer.similar_prompt),
      similar_call_id: answer.similar_request_id,
      occurrence: Math.max(1, ladder.occurrences(call.sessionKey)),
      action,
      is_hinted: call.isHinted,
    };
    events.found(call.tenantId, event);
    if (action === 'alerted' || action === 'paused') this.#raiseAlert(call.tenantId, event);
    if (action === 'paused') this.#behind(this.#pause(call.sessionKey, event));
    if (this.#working.size < WRITING_COUNT_MAX) this.#behind(this.#keep(call.tenantId, event));
    else {
      events.failedOpen('storage');
      this.#publish(call.tenantId, event);
    }
    return event;
  }

  /** Resolves when what is under way now has ended, whatever is found meanwhile. Never rejects. */
  async settled(): Promise<void> {
    await Promise.all(this.#working);
  }

  #raiseAlert(tenant_id: string, event: SemanticLoopEvent): void {
    const { agent_id, session_id, at_ms, similarity, threshold, occurrence, action } = event;
    this.#parts.alerts.note({
      kind: 'semantic_loop',
      tenant_id,
      agent_id,
      session_id,
      at_ms,
      similarity,
      threshold,
      occurrence,
      paused: action === 'paused',
    });
  }

  async #pause(key: SessionKey, { occurrence, similarity }: SemanticLoopEvent): Promise<void> {
    const reason = `semantic loop ${occurrence} of this session: similarity ${similarity.toFixed(3)}`;
    const { desk, events } = this.#parts;
    await desk.pauseBySystem(key, reason).catch((error: unknown) => events.failedOpen('pause', error));
  }

  async #keep(tenantId: string, event: SemanticLoopEvent): Promise<void> {
    const { store, events } = this.#parts;
    try {
      const seq = await store.appendSemanticLoop(tenantId, event);
      this.#publish(tenantId, { ...event, seq });
    } catch (error) {
      events.failedOpen('storage', error);
      this.#publish(tenantId, event);
    }
  }

  #publish(tenantId: string, event: SemanticLoopEvent): void {
    const { live } = this.#parts;
    live.publish(tenantId, TOPICS.semanticLoops, event);
    live.publish(tenantId, sessionTopic(event.session_id), { kind: 'semantic_loop', event });
  }

  #behind(work: Promise<void>): void {
    const settled: Promise<void> = work.finally(() => this.#working.delete(settled));
    this.#working.add(settled);
  }
}

/** Not the whole of a megabyte is searched for secrets; what is kept is cut after, for masks differ in length. */
const redactedExcerpt = (text: string): string =>
  cut(redact(text.slice(0, SEMANTIC_LOOP_PROMPT_CHARS_MAX + REDACTED_BEYOND_CHARS)));

/** A copy, so that no excerpt keeps a long prompt alive. */
const cut = (text: string): string => Buffer.from(text.slice(0, SEMANTIC_LOOP_PROMPT_CHARS_MAX)).toString();
