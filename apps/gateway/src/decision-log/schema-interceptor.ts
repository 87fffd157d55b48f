/**
 * Every DecisionLog passes here, whichever way it came in:
 *
 *     validate -> recognise a resend -> entropy -> overwrite the score -> hitl gate -> store -> publish
 *
 * The only writer of entropy windows. Stays synchronous up to the store for a session it has in memory, so
 * that messages of one session are scored in the order in which they arrived. @see FR-9.8, FR-9.9
 */
import {
  type AcceptedAnswer,
  type AgentPrincipal,
  type DecisionLog,
  type DecisionStore,
  type EntropyTuple,
  type IngestAnswer,
  maySpeakFor,
  PROXY_SOURCE,
  type RuntimeConfigSource,
  type SessionKey,
  type Severity,
  type StepCommit,
  type StepRow,
  type StoredStep,
  sessionKey,
} from '#contracts';
import { payloadHash, type RefusedLog, resolveSessionId, violationOf } from '#domain/decision-log';
import { tupleOf } from '#domain/entropy';
import type { EntropyTracker } from '#domain/entropy/writer';
import type { Clock } from '#kernel';
import type { ControlDesk } from '../hitl/control-desk.js';
import type { IngestEvents } from './ingest-events.js';
import {
  type Incoming,
  type IncomingValue,
  parseLine,
  type Rejected,
  rejected,
  textOf,
  type Validated,
  validate,
} from './read-message.js';
import type { SessionRegistry } from './session-registry.js';
import { OpenCommit, type StepMemory } from './step-memory.js';
import type { StepPublisher } from './step-publisher.js';
import { toolKeySetting } from './tool-key-setting.js';
import { WindowRestore } from './window-restore.js';

/** A step on its way into the store. */
interface Scored {
  kind: 'scored';
  key: SessionKey;
  /** The session's, with this step in it, oldest first. */
  window: readonly EntropyTuple[];
  row: StepRow;
  log: DecisionLog;
  warnings: string[];
}

interface Duplicate {
  kind: 'duplicate';
  key: SessionKey;
  traceId: string;
  bodyHash: string;
  commit: Promise<unknown> | null;
  /** What is said of the message itself, each time it comes: a sender may have lost the first answer. */
  warnings: string[];
}

type Prepared = Scored | Duplicate | Rejected;

/** Something, and its place in the request. */
interface Placed<T> {
  at: number;
  what: T;
}

/** What one request comes to. */
interface Outcome {
  answers: IngestAnswer[];
  /** Answered last: an original may be in this very batch, or in one that waits for ours. */
  duplicates: Placed<Duplicate>[];
  /**
   * Sessions that have had a step of this request, new or sent again: a further one says nothing about whether its agent has
   * the answer to an earlier step.
   */
  heard: Set<SessionKey>;
}

export interface SchemaInterceptorParts {
  clock: Clock;
  config: RuntimeConfigSource;
  tracker: EntropyTracker;
  memory: StepMemory;
  store: DecisionStore;
  desk: ControlDesk;
  publisher: StepPublisher;
  events: IngestEvents;
  /** Of sessions: asked whether a past is in the store. */
  rows: Pick<SessionRegistry, 'mayBeStored' | 'mayHaveLeft' | 'bringBack'>;
}

type Sender = Pick<AgentPrincipal, 'agent_ids'>;
const ANYBODY: Sender = { agent_ids: null };

const notItsAgent = ({ identity, meta }: DecisionLog): Rejected =>
  rejected(
    'agent_refused',
    `identity.agent_id: this key may not speak for ${JSON.stringify(identity.agent_id)}`,
    meta.trace_id,
  );

export class SchemaInterceptor {
  readonly #parts: SchemaInterceptorParts;
  readonly #windows: WindowRestore;

  constructor(parts: SchemaInterceptorParts) {
    this.#parts = parts;
    this.#windows = new WindowRestore(parts);
  }

  /**
   * Answers in the order of `messages`; each stands for itself. Resolves once what was accepted is durable.
   * @param sender may speak for some agents alone; absent: for any
   * @throws ObservatoryError store_busy, store_full: nothing is answered, and nothing lost if all of it is sent again; of a batch
   *   that waited between two of its steps, what came before may be stored
   */
  async intercept(
    tenantId: string,
    messages: readonly Incoming[],
    sender: Sender = ANYBODY,
  ): Promise<IngestAnswer[]> {
    const outcome: Outcome = {
      answers: new Array<IngestAnswer>(messages.length),
      duplicates: [],
      heard: new Set(),
    };
    const { answers, duplicates } = outcome;
    const commit = new OpenCommit(this.#parts.memory);
    /** Scored, not yet stored. */
    const steps: Placed<Scored>[] = [];
    /** Of those that were scored before something had to be waited for. */
    const storing: Promise<void>[] = [];
    try {
      for (let at = 0; at < messages.length; at += 1) {
        const step = this.#prepare(tenantId, messages[at] as Incoming, commit, sender);
        // Awaiting what is ready would give other requests a turn in between, for nothing.
        if (step instanceof Promise && steps.length > 0) {
          // What others send meanwhile is scored behind them, and must not be stored or shown before them.
          const stored = this.#store(steps.splice(0), outcome);
          stored.catch(() => {});
          storing.push(stored);
        }
        const prepared = step instanceof Promise ? await step : step;
        if (prepared.kind === 'rejected') {
          answers[at] = prepared.answer;
          this.#parts.events.rejected(prepared.answer.reason);
        } else if (prepared.kind === 'duplicate') {
          duplicates.push({ at, what: prepared });
          outcome.heard.add(prepared.key);
        } else {
          const asksForPerson = prepared.log.control?.hitl_required;
          const before = asksForPerson ? steps.splice(0) : [];
          // Scored, so it belongs to what is undone if the pause is refused.
          steps.push({ at, what: prepared });
          if (asksForPerson) {
            // What came before the request for a person still goes out.
            await this.#store(before, outcome);
            await this.#parts.desk.askForPerson(prepared.key, prepared.row.agent_id);
            // At once: a pause that somebody ended while the next step is made ready would hold nothing.
            await this.#store(steps.splice(0), outcome);
          }
        }
      }
      // Written out: waiting in a function of its own would be one more turn of the microtask queue for every message.
      if (steps.length > 0) {
        const introductions = this.#conclude(steps, await this.#append(steps), outcome);
        if (introductions.length > 0) await Promise.all(introductions);
      }
      if (storing.length > 0) await Promise.all(storing);
      commit.succeed();
    } catch (error) {
      commit.fail(error);
      // Scored, but it never happened: these windows are rebuilt from what is stored.
      for (const { what } of steps) this.#parts.tracker.forget(what.key);
      throw error;
    }
    for (const { at, what } of duplicates) answers[at] = await this.#answerDuplicate(tenantId, what);
    return answers;
  }

  #prepare(
    tenantId: string,
    incoming: Incoming,
    commit: OpenCommit,
    sender: Sender,
  ): Prepared | Promise<Prepared> {
    const message = 'line' in incoming ? parseLine(incoming) : incoming;
    return 'kind' in message ? message : this.#prepareValue(tenantId, message, commit, sender);
  }

  #prepareValue(
    tenantId: string,
    incoming: IncomingValue,
    commit: OpenCommit,
    sender: Sender,
  ): Prepared | Promise<Prepared> {
    const message = validate(incoming);
    if ('ok' in message) {
      // Nobody's agent looks broken for what others say in its name.
      const isOwn = maySpeakFor(sender, message.agentId ?? '');
      const failure = isOwn ? message : { ...message, agentId: null };
      return this.#violation(tenantId, payloadHash(textOf(incoming)), failure);
    }
    if ('kind' in message) return message;
    const { log } = message;
    if (!maySpeakFor(sender, log.identity.agent_id)) return notItsAgent(log);
    const sessionId = resolveSessionId(log, (traceId) => this.#parts.memory.sessionOf(tenantId, traceId));
    const parentId = log.meta.parent_step_id;
    if (!log.meta.session_id && parentId && this.#parts.memory.sessionOf(tenantId, parentId) === undefined) {
      return this.#prepareWithStoredParent(tenantId, message, commit, parentId);
    }
    const key = sessionKey(tenantId, sessionId);
    const restored = this.#windows.restore(key);
    if (restored === null) return this.#score(key, tenantId, sessionId, message, commit);
    return restored.then(() => this.#score(key, tenantId, sessionId, message, commit));
  }

  async #prepareWithStoredParent(
    tenantId: string,
    message: Validated,
    commit: OpenCommit,
    parentId: string,
  ): Promise<Prepared> {
    const parent = await this.#parts.store.stepByTrace(tenantId, parentId);
    const sessionId = resolveSessionId(message.log, () => parent?.session_id);
    const key = sessionKey(tenantId, sessionId);
    await this.#windows.restore(key);
    return this.#score(key, tenantId, sessionId, message, commit);
  }

  /** From here to the end nothing waits: recognition and scoring are one turn. */
  #score(
    key: SessionKey,
    tenantId: string,
    sessionId: string,
    message: Validated,
    commit: OpenCommit,
  ): Prepared {
    const { log, hash, warnings } = message;
    // Before the score is in it. Where something was dropped, what is left is stored.
    const body = warnings.length === 0 ? message.serialised : JSON.stringify(log);
    const { clock, config, tracker, memory, events } = this.#parts;
    const traceId = log.meta.trace_id;
    const recognition = memory.recognise(tenantId, traceId, hash);
    if (recognition.kind === 'duplicate') {
      return {
        kind: 'duplicate',
        key: recognition.key,
        traceId,
        bodyHash: hash,
        commit: recognition.commit,
        warnings,
      };
    }
    if (recognition.kind === 'reused_trace_id') {
      warnings.push(
        `meta.trace_id ${JSON.stringify(traceId)} came before with another body; stored as another step`,
      );
    }
    const { agent_id, agent_type, capability_version } = log.identity;
    events.versionSeen(tenantId, agent_type, capability_version);
    const slot = tracker.bindAgent(key, agent_id);
    const scored = tracker.recordAndScore(slot, tupleOf(log, toolKeySetting(config)));
    let severity: Severity = 'normal';
    if (scored.ok) {
      severity = scored.severity;
      log.cognition.entropy_score = scored.score;
    } else events.entropyFailed(sessionId, scored.error);
    log.cognition.entropy_severity = severity;
    // The tracker's own key: the very text under which the session is known elsewhere, kept once and not compared anew.
    const ownKey = tracker.keyOf(slot);
    memory.remember(ownKey, traceId, hash, commit);
    const row: StepRow = {
      tenant_id: tenantId,
      session_id: sessionId,
      agent_id,
      trace_id: traceId,
      body_hash: hash,
      received_at_ms: clock.nowMs(),
      held: 0,
      entropy_score: log.cognition.entropy_score ?? 1,
      entropy_severity: severity,
      window_size: scored.ok ? scored.window_size : 0,
      body,
    };
    return { kind: 'scored', key: ownKey, window: tracker.snapshot(slot), row, log, warnings };
  }

  /** Stores, then publishes and answers, in order. */
  async #store(steps: Placed<Scored>[], outcome: Outcome): Promise<void> {
    if (steps.length === 0) return;
    let commits: StepCommit[];
    try {
      commits = await this.#append(steps);
    } catch (error) {
      for (const { what } of steps) this.#parts.tracker.forget(what.key);
      throw error;
    }
    await Promise.all(this.#conclude(steps, commits, outcome));
  }

  /** `held` is decided in the turn that enqueues. */
  #append(steps: readonly Placed<Scored>[]): Promise<StepCommit[]> {
    const { store, desk } = this.#parts;
    for (const { what } of steps) what.row.held = desk.isHolding(what.key) ? 1 : 0;
    return store.appendSteps(steps.map(({ what }) => what.row));
  }

  /**
   * Of steps that are stored.
   *
   * @returns what to wait for: whoever reads that a step is held can find its session, and let it go on
   */
  #conclude(
    steps: readonly Placed<Scored>[],
    commits: readonly StepCommit[],
    { answers, duplicates, heard }: Outcome,
  ): Promise<void>[] {
    const { tracker } = this.#parts;
    const introductions: Promise<void>[] = [];
    for (const [index, { at, what }] of steps.entries()) {
      const { duplicate, seq } = commits[index] as StepCommit;
      if (duplicate) {
        // Older than the memory of steps: its window counted it twice until now.
        tracker.forget(what.key);
        const { key, row, warnings } = what;
        const { trace_id: traceId, body_hash: hash } = row;
        duplicates.push({
          at,
          what: { kind: 'duplicate', key, traceId, bodyHash: hash, commit: null, warnings },
        });
      } else answers[at] = this.#finish(what, seq, heard, introductions);
    }
    return introductions;
  }

  #finish(
    scored: Scored,
    seq: number,
    heard: Set<SessionKey>,
    introductions: Promise<void>[],
  ): AcceptedAnswer {
    const { desk, publisher, events } = this.#parts;
    const { key, window, row, log, warnings } = scored;
    // Written out: this runs for every message, and a rest spread costs as much as parsing it.
    const step: StoredStep = {
      tenant_id: row.tenant_id,
      session_id: row.session_id,
      agent_id: row.agent_id,
      trace_id: row.trace_id,
      body_hash: row.body_hash,
      received_at_ms: row.received_at_ms,
      entropy_score: row.entropy_score,
      entropy_severity: row.entropy_severity,
      window_size: row.window_size,
      seq,
      held: row.held === 1,
      rewritten_by: null,
      log,
      body_chars: row.body.length,
    };
    if (step.held) {
      introductions.push(publisher.publishHeld(key, step));
      desk.noteHeld(key);
    } else publisher.publish(key, step, window);
    // The answer to a step that the proxy made of a call goes to nobody: its agent is told by the proxy.
    if (log.meta.source_app !== PROXY_SOURCE && !heard.has(key)) desk.noteStep(key);
    heard.add(key);
    events.accepted(row.entropy_severity);
    const answer: AcceptedAnswer = {
      status: 'accepted',
      trace_id: row.trace_id,
      session_id: row.session_id,
      entropy: { score: row.entropy_score, severity: row.entropy_severity, window_size: row.window_size },
      control: desk.answerFor(key),
    };
    if (warnings.length > 0) answer.warnings = warnings;
    return answer;
  }

  /** As the first time, but with the control of now. */
  async #answerDuplicate(tenantId: string, duplicate: Duplicate): Promise<IngestAnswer> {
    const { store, desk, events } = this.#parts;
    await duplicate.commit;
    const step = await store.stepByTrace(tenantId, duplicate.traceId, duplicate.bodyHash);
    events.duplicate();
    // Only retention can have removed it in between.
    if (step === null)
      return rejected(
        'schema_violation',
        'meta.trace_id: this step was already taken and has expired',
        duplicate.traceId,
      ).answer;
    return {
      status: 'accepted',
      trace_id: step.trace_id,
      session_id: step.session_id,
      entropy: { score: step.entropy_score, severity: step.entropy_severity, window_size: step.window_size },
      control: desk.answerFor(duplicate.key),
      ...(duplicate.warnings.length > 0 && { warnings: duplicate.warnings }),
    };
  }

  #violation(tenantId: string, hash: string, failure: RefusedLog): Prepared {
    const { clock, store, publisher, events } = this.#parts;
    const event = violationOf({
      nowMs: clock.nowMs(),
      agentId: failure.agentId,
      capabilityVersion: failure.capabilityVersion,
      reason: failure.detail,
      payloadHash: hash,
    });
    publisher.publishViolation(tenantId, event);
    events.violated(event.violation_reason, event.agent_id);
    store.appendViolation(tenantId, event).catch((error) => events.storeFailed('violation', error));
    return rejected('schema_violation', failure.detail, failure.traceId);
  }
}
