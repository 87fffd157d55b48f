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
import { redactedStart } from '#domain/kill-switch';
import { LADDER_IDLE_MS, type LoopLadder } from '#domain/semantic-loop';
import { BackgroundWork, type IdSource, inTime, type Timer } from '#kernel';
import type { AlertMonitor } from '../alerts/alert-monitor.js';
import type { SessionRegistry } from '../decision-log/session-registry.js';
import { FairShare } from '../fair-share.js';
import { hasNoRoomYet } from '../has-no-room-yet.js';
import type { ControlDesk } from '../hitl/control-desk.js';
import { UnsavedWrites } from '../unsaved-writes.js';
import type { LoopBoard } from './loop-board.js';
import type { SemanticLoopEvents } from './semantic-loop-events.js';

/** Events on their way to the store; further ones are shown, and not kept. */
const WRITING_COUNT_MAX = 1_000;
/** Events that wait for the store to have room again, half of them per tenant; further ones are shown, and not kept. */
export const UNSAVED_LOOPS_MAX = 1_000;
/** A call waits no longer for what went before; a store at work answers in a few milliseconds. */
const RECALL_WAIT_MS = 100;
/** Whoever is told of a loop waits no longer to hear whether its session was paused. */
export const PAUSE_WAIT_MS = 5_000;

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
  ladder: Pick<LoopLadder, 'decide' | 'occurrences' | 'restore'>;
  store: Pick<ProxyStore, 'appendSemanticLoop' | 'semanticLoops'>;
  live: LivePublisher;
  board: Pick<LoopBoard, 'raise'>;
  alerts: Pick<AlertMonitor, 'note'>;
  desk: Pick<ControlDesk, 'pauseBySystem'>;
  sessions: Pick<SessionRegistry, 'introduceLoop'>;
  ids: IdSource;
  timer: Timer;
  events: Pick<SemanticLoopEvents, 'found' | 'failedOpen'>;
}

export class LoopDesk {
  readonly #parts: LoopDeskParts;
  readonly #working = new BackgroundWork();
  /** By event. */
  readonly #unsaved: UnsavedWrites<string>;
  /** The refusal of one without a place is told, too. */
  readonly #places = new FairShare({ max: UNSAVED_LOOPS_MAX, onFull: () => {} });

  constructor(parts: LoopDeskParts) {
    this.#parts = parts;
    this.#unsaved = new UnsavedWrites(parts.timer);
  }

  /** Before its first loop in this process: a session goes on up the ladder where it was before a restart. Never rejects. */
  async recall({
    tenantId: tenant_id,
    sessionId: session_id,
    sessionKey,
    atMs,
  }: Pick<LoopingCall, 'tenantId' | 'sessionId' | 'sessionKey' | 'atMs'>): Promise<void> {
    const { ladder, store, events } = this.#parts;
    if (ladder.occurrences(sessionKey) > 0) return;
    try {
      const reading = store.semanticLoops({ tenant_id, session_id, limit: 1 });
      const [last] = (await inTime(reading, RECALL_WAIT_MS, () => tooLate(RECALL_WAIT_MS))).items;
      if (last !== undefined && atMs - last.at_ms <= LADDER_IDLE_MS)
        ladder.restore(sessionKey, last.occurrence);
    } catch (error) {
      events.failedOpen('storage', error);
    }
  }

  /**
   * Counts the loop and sets going what the policy says. Never throws.
   *
   * @returns the loop with what is to be done about it: where the session then cannot be paused, it is told as alerted
   */
  note(call: LoopingCall, policy: Exclude<SemanticLoopPolicy, 'off'>, answer: LoopAnswer): SemanticLoopEvent {
    const { ladder, ids } = this.#parts;
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
    if (isAlert(event)) void this.#working.add(this.#parts.sessions.introduceLoop(call.sessionKey, event));
    const told = action === 'paused' ? this.#pauseAndTell(call, event) : this.#tell(call.tenantId, event);
    void this.#working.add(told);
    return event;
  }

  /** Resolves when what is under way now has ended, whatever is found meanwhile. Never rejects. */
  settled(): Promise<void> {
    return this.#working.settled();
  }

  /** After the last call: what the store refused is tried again. Never rejects. */
  async stop(): Promise<void> {
    await this.settled();
    await this.#unsaved.stop();
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

  async #pauseAndTell({ tenantId, sessionKey }: LoopingCall, event: SemanticLoopEvent): Promise<void> {
    const isPaused = await this.#pause(sessionKey, event);
    await this.#tell(tenantId, isPaused ? event : { ...event, action: 'alerted' });
  }

  /** @returns false: it is over, or could not be paused */
  async #pause(key: SessionKey, { occurrence, similarity }: SemanticLoopEvent): Promise<boolean> {
    const reason = `semantic loop ${occurrence} of this session: similarity ${similarity.toFixed(3)}`;
    const { desk, events } = this.#parts;
    try {
      return await inTime(desk.pauseBySystem(key, reason), PAUSE_WAIT_MS, () => tooLate(PAUSE_WAIT_MS));
    } catch (error) {
      events.failedOpen('pause', error);
      return false;
    }
  }

  async #tell(tenantId: string, event: SemanticLoopEvent): Promise<void> {
    const { events } = this.#parts;
    events.found(tenantId, event);
    if (isAlert(event)) this.#raiseAlert(tenantId, event);
    if (this.#working.size < WRITING_COUNT_MAX) return this.#keep(tenantId, event);
    events.failedOpen('storage');
    this.#show(tenantId, event);
  }

  async #keep(tenantId: string, event: SemanticLoopEvent): Promise<void> {
    const { store, events } = this.#parts;
    const write = async () => ({ ...event, seq: await store.appendSemanticLoop(tenantId, event) });
    try {
      this.#show(tenantId, await write());
    } catch (error) {
      events.failedOpen('storage', error);
      this.#show(tenantId, event);
      if (!hasNoRoomYet(error) || !this.#places.take(tenantId, 1)) return;
      this.#unsaved.add(event.event_id, async () => {
        const stored = await write();
        if (this.#unsaved.delete(event.event_id)) this.#places.giveBack(tenantId, 1);
        this.#publish(tenantId, stored);
      });
    }
  }

  #show(tenantId: string, event: SemanticLoopEvent): void {
    this.#parts.board.raise(tenantId, event);
    this.#publish(tenantId, event);
  }

  #publish(tenantId: string, event: SemanticLoopEvent): void {
    const { live } = this.#parts;
    live.publish(tenantId, TOPICS.semanticLoops, event);
    live.publish(tenantId, sessionTopic(event.session_id), { kind: 'semantic_loop', event });
  }
}

const isAlert = ({ action }: SemanticLoopEvent): boolean => action === 'alerted' || action === 'paused';

const tooLate = (waitMs: number): Error => new Error(`the store did not answer within ${waitMs} ms`);

/** A copy, so that no excerpt keeps a long prompt alive. */
const redactedExcerpt = (text: string): string =>
  Buffer.from(redactedStart(text, SEMANTIC_LOOP_PROMPT_CHARS_MAX)).toString();
