/**
 * One question to the sidecar about one call: has this agent asked the same in this session before? Never throws and never waits
 * longer than it may; whatever goes wrong is counted, and the call goes on as if it had not been asked.
 */
import { hash } from 'node:crypto';
import {
  type EmbeddingService,
  type LoopAnswer,
  type LoopSimilarity,
  type Repeated,
  type SessionKey,
  SidecarFailure,
  tenantIdOf,
} from '#contracts';
import { type Clock, FairLru } from '#kernel';
import type { CheckResult, LoopFailure, SemanticLoopEvents } from './semantic-loop-events.js';

/** Agents of sessions with prompts that have no answer, over all tenants; the one that has most gives way. */
const UNANSWERED_COUNT_MAX = 10_000;
const UNANSWERED_IDLE_MS = 10 * 60_000;
/** Agents of sessions whose tasks are known, over all tenants; the one that has most gives way. */
const TASKED_COUNT_MAX = 10_000;
/** As long as histories keep a prompt. */
const TASKED_IDLE_MS = 60 * 60_000;
const TASKS_PER_PROMPT_MAX = 8;
/**
 * First questions of conversations that nobody named, until another one follows, over all tenants; the one that has most gives way.
 * Most are asked once, and cost nothing.
 */
const FIRST_COUNT_MAX = 10_000;
const FIRST_CHARS_MAX = 16 * 1024 * 1024;
const FIRST_IDLE_MS = 60 * 60_000;

/**
 * Of one agent, in either; more than histories keep unless told otherwise. The oldest is forgotten, and would count as asked
 * again.
 */
const PROMPTS_MAX = 8;

export interface LoopQuestion {
  tenantId: string;
  sessionId: string;
  sessionKey: SessionKey;
  agentId: string;
  callId: string;
  /** As `promptOf` has it, and as it is sent. */
  prompt: string;
  /** Its client SDK's own: of an attempt that was compared nothing is asked again, one that never was is now. */
  isRetry: boolean;
  /** What the words are put to: model and system prompt, or a name of both. */
  task: string;
  /** Whether an earlier prompt of the session is one that this one repeats. */
  counts: (similarPrompt: string) => boolean;
  traceParent: string | null;
  /** Resolves when nobody waits for the call any more. */
  gone: Promise<unknown>;
}

/** Who asked what, with which call. */
export type Asked = Pick<LoopQuestion, 'sessionKey' | 'agentId' | 'callId' | 'prompt'>;

export interface LoopCheckParts {
  service: Pick<EmbeddingService, 'checkLoop' | 'isReady'>;
  timeoutMs: number;
  /** Null: the sidecar's own. */
  loopWhenSimilarityAbove: LoopSimilarity | null;
  clock: Clock;
  events: Pick<SemanticLoopEvents, 'checked' | 'failedOpen'>;
}

interface Attempt {
  /** Of the first call with this prompt. */
  requestId: string;
  /** The sidecar has compared it. */
  isCompared: boolean;
  isLoop: boolean;
  /** Of those that asked at once one has its answer: the others, which may be broken off for that, leave nothing to ask for. */
  isAnswered: boolean;
  /** Its client had some of the answer and left: an SDK may try again, and anybody else asks again. */
  wasLeft: boolean;
}

/** Attempts by the digest of their prompt, oldest first: prompts of one agent may be under way together. */
type Unanswered = Map<string, Attempt>;

/** `left`: its client had some of the answer, and waited for no more of it. */
export type AskedEnding = 'answered' | 'left' | 'unanswered';

/** Tasks by the digest of their prompt; of both the latest last. */
type Tasked = Map<string, string[]>;

export type LoopVerdict =
  /** `isNew`: its request was not found to be one before, asked several times at once or again for want of an answer. */
  | { kind: 'loop'; answer: LoopAnswer; isNew: boolean }
  /** No loop, nothing to compare, or nobody waits any more. */
  | { kind: 'clear' }
  | { kind: 'failed_open'; reason: LoopFailure };

const CLEAR: LoopVerdict = { kind: 'clear' };
const LEFT = Symbol('left');

export class LoopCheck {
  readonly #parts: LoopCheckParts;
  /** By session and agent. */
  readonly #unanswered: FairLru<string, Unanswered>;
  /** By call, until that has ended. */
  readonly #underWay = new Map<string, Attempt>();
  readonly #tasked: FairLru<string, Tasked>;
  readonly #firsts: FairLru<string, Pick<Asked, 'callId' | 'prompt'>>;

  constructor(parts: LoopCheckParts) {
    this.#parts = parts;
    this.#unanswered = new FairLru({
      countMax: UNANSWERED_COUNT_MAX,
      idleMs: UNANSWERED_IDLE_MS,
      clock: parts.clock,
    });
    this.#tasked = new FairLru({
      countMax: TASKED_COUNT_MAX,
      idleMs: TASKED_IDLE_MS,
      clock: parts.clock,
    });
    this.#firsts = new FairLru({
      countMax: FIRST_COUNT_MAX,
      idleMs: FIRST_IDLE_MS,
      clock: parts.clock,
      weight: { max: FIRST_CHARS_MAX, of: ({ prompt }) => prompt.length },
    });
  }

  /** The first question of a conversation that nobody named is no loop; what follows may ask it again. */
  noteFirst(asked: Asked): void {
    const [tenantId, asker] = [tenantIdOf(asked.sessionKey), askerOf(asked)];
    const isKnown = this.#tasked.peek(tenantId, asker) ?? this.#firsts.peek(tenantId, asker);
    if (isKnown !== undefined) return;
    this.#firsts.set(tenantId, asker, { callId: asked.callId, prompt: asked.prompt });
  }

  /** Never rejects: what fails is clear, and counted. */
  async ask(question: LoopQuestion): Promise<LoopVerdict> {
    const { service, timeoutMs, loopWhenSimilarityAbove, events } = this.#parts;
    const retried = question.isRetry ? this.#attemptOf(question) : undefined;
    if (retried?.isCompared) {
      this.#underWay.set(question.callId, retried);
      return CLEAR;
    }
    if (!service.isReady) return this.#failOpen('unavailable', null);
    const startedMs = performance.now();
    try {
      const { isFirst, isNewTask } = this.#noteTask(question);
      const attempt = this.#attempt(question);
      this.#underWay.set(question.callId, attempt);
      const scope = {
        tenant_id: question.tenantId,
        session_id: question.sessionId,
        agent_id: question.agentId,
        threshold: loopWhenSimilarityAbove,
      };
      const options = { timeoutMs, traceParent: question.traceParent };
      const first = this.#takeFirst(question);
      // One after another, as the sidecar compares what an agent asks in a session; nobody waits for this one.
      if (first !== undefined)
        service
          .checkLoop({ ...scope, request_id: first.callId, prompt: first.prompt }, options)
          .catch(() => {});
      const query = { ...scope, request_id: attempt.requestId, prompt: question.prompt };
      const answer = await Promise.race([
        service.checkLoop(query, options),
        question.gone.then((): typeof LEFT => LEFT),
      ]);
      const tookMs = performance.now() - startedMs;
      if (answer === LEFT) {
        events.checked('left', null);
        return CLEAR;
      }
      attempt.isCompared = true;
      // The very words of a retry that nobody asked here are those of its first attempt, which another gateway compared.
      const isOnce = isNewTask || (question.isRetry && isFirst);
      const found = repeatedIn(answer).find(
        ({ prompt }) => question.counts(prompt) && !(isOnce && prompt === question.prompt),
      );
      events.checked(answer.loop_detected && found === undefined ? 'clear' : resultOf(answer), tookMs);
      if (found === undefined) return CLEAR;
      const similar = { similar_prompt: found.prompt, similar_request_id: found.request_id };
      const isNew = !attempt.isLoop;
      attempt.isLoop = true;
      return { kind: 'loop', answer: { ...answer, ...similar }, isNew };
    } catch (error) {
      const reason = error instanceof SidecarFailure ? error.reason : 'error';
      return this.#failOpen(reason, performance.now() - startedMs);
    }
  }

  /**
   * The call of this prompt ended. One that got no answer may be asked again, by whatever means its client retries: that
   * is the same request, and no loop.
   */
  noteEnded(asked: Asked, ending: AskedEnding): void {
    const known = this.#attemptOf(asked);
    const attempt = this.#underWay.get(asked.callId) ?? known;
    this.#underWay.delete(asked.callId);
    if (ending === 'unanswered') {
      // Nobody has asked anew: it stays what it is, also one that was left.
      if (!attempt?.isAnswered) this.#attempt({ ...asked, isRetry: true });
    } else if (attempt !== undefined) {
      if (ending === 'left') attempt.wasLeft = true;
      else {
        attempt.isAnswered = true;
        this.#forget(asked);
      }
    }
  }

  #forget(asked: Asked): void {
    const [tenantId, asker] = [tenantIdOf(asked.sessionKey), askerOf(asked)];
    const prompts = this.#unanswered.get(tenantId, asker);
    if (prompts?.delete(digestOf(asked.prompt)) && prompts.size === 0)
      this.#unanswered.delete(tenantId, asker);
  }

  /**
   * Whether these words were put to anything before, and whether to other tasks only: one message that goes to a classifier, and
   * then to whoever answers it, is asked once.
   */
  #noteTask(question: LoopQuestion): { isFirst: boolean; isNewTask: boolean } {
    const { task } = question;
    const tasks = noteLatest(this.#tasked, question, (before = []) =>
      [...before.filter((other) => other !== task), task].slice(-TASKS_PER_PROMPT_MAX),
    );
    return { isFirst: tasks === undefined, isNewTask: tasks !== undefined && !tasks.includes(task) };
  }

  /** It is told once. */
  #takeFirst(asked: Asked): Pick<Asked, 'callId' | 'prompt'> | undefined {
    const [tenantId, asker] = [tenantIdOf(asked.sessionKey), askerOf(asked)];
    const first = this.#firsts.peek(tenantId, asker);
    if (first !== undefined) this.#firsts.delete(tenantId, asker);
    return first;
  }

  #attemptOf(asked: Asked): Attempt | undefined {
    return this.#unanswered.get(tenantIdOf(asked.sessionKey), askerOf(asked))?.get(digestOf(asked.prompt));
  }

  /**
   * That of the first call with this prompt, if none was answered: nobody asks again before there is an answer, and who asks
   * several times at once, to take a vote, has asked once.
   */
  #attempt(asked: Asked & { isRetry?: boolean }): Attempt {
    let attempt = newAttempt(asked.callId);
    noteLatest(this.#unanswered, asked, (before) => {
      if (before !== undefined && (asked.isRetry || !before.wasLeft)) attempt = before;
      return attempt;
    });
    return attempt;
  }

  #failOpen(reason: LoopFailure, tookMs: number | null): LoopVerdict {
    const { events } = this.#parts;
    events.checked('failed_open', tookMs);
    events.failedOpen(reason);
    return { kind: 'failed_open', reason };
  }
}

const newAttempt = (requestId: string): Attempt => ({
  requestId,
  isCompared: false,
  isLoop: false,
  isAnswered: false,
  wasLeft: false,
});

/**
 * Makes the prompt the latest of its agent's, of which so many are known.
 *
 * @param next what is known of it from now on, by what was
 * @returns what was known of it; undefined: nothing
 */
function noteLatest<Known>(
  latest: FairLru<string, Map<string, Known>>,
  asked: Asked,
  next: (before: Known | undefined) => Known,
): Known | undefined {
  const [tenantId, asker] = [tenantIdOf(asked.sessionKey), askerOf(asked)];
  const prompts = latest.get(tenantId, asker) ?? new Map<string, Known>();
  const digest = digestOf(asked.prompt);
  const before = prompts.get(digest);
  prompts.delete(digest);
  prompts.set(digest, next(before));
  const [oldest] = prompts.keys();
  if (oldest !== undefined && prompts.size > PROMPTS_MAX) prompts.delete(oldest);
  latest.set(tenantId, asker, prompts);
  return before;
}

/** NUL occurs in no id. */
const askerOf = ({ sessionKey, agentId }: Asked): string => `${sessionKey}\0${agentId}`;

/** What makes it a loop, nearest first. */
const repeatedIn = ({
  loop_detected,
  similar_prompt,
  similar_request_id,
  further,
}: LoopAnswer): Repeated[] =>
  loop_detected ? [{ prompt: similar_prompt, request_id: similar_request_id }, ...further] : [];

function resultOf({ loop_detected, fitness, vetoed_by }: LoopAnswer): CheckResult {
  if (loop_detected) return 'loop';
  if (fitness !== 'fit') return 'unfit';
  return vetoed_by === null ? 'clear' : 'vetoed';
}

export const digestOf = (prompt: string): string => hash('sha256', prompt, 'base64');
