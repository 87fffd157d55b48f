/**
 * The steps of one agent, or of one of its sessions, that the next request is compared with. Oldest leave first. Requests that
 * overlap are no reactions to each other's answers: who asks twelve times at once, to take a vote, has not asked again. So a
 * request similar to one that has no answer yet is a further attempt of the same step; the first answer is the step's, and
 * whoever asks after it asks again.
 *
 *     asked   asked, asked   answered     answered, answered   asked
 *     step 1  = step 1       step 1 has   nothing more         step 2: repeats step 1
 *                            its answer
 */
import type { IncidentEvidence, LlmAnswer, LlmRequest, ScoreBreakdown } from '#contracts';
import { type AnswerPrint, answerPrint, isEmptyAnswer } from './answer-print.js';
import { type Excerpt, excerptOfAnswer, excerptOfRequest, excerptSize, redactedExcerpt } from './excerpt.js';
import {
  handedOver,
  isSimilarPrompt,
  type PromptPrint,
  promptDistance,
  promptPrint,
} from './prompt-print.js';
import { repeatedIndexes, type StepMatch, scoreRequest } from './score.js';
import { StepMarks } from './step-marks.js';

/** One request as it comes to the kill switch. */
export interface ObservedRequest {
  call_id: string;
  /** Unix milliseconds. */
  at_ms: number;
  request: LlmRequest;
  /** A client SDK's own retry: the same step, not another one. */
  is_retry: boolean;
  /** Which of the agents that share the window asks; those that hand over to each other have system prompts of their own. */
  role: string;
  /** All words of the request's messages from that one on, without ids. Asked for where other agents had a turn. */
  wordsSince: (messageCount: number) => string;
}

export type KillSwitchDecision =
  | { kind: 'forward'; breakdown: ScoreBreakdown }
  | {
      kind: 'block';
      breakdown: ScoreBreakdown;
      /** The window, oldest first, and last the request that is stopped; redacted. */
      evidence: IncidentEvidence[];
    };

/** Votes that anybody takes at once have fewer; each further one under way counts as asked again: its agent waits for nothing. */
const ATTEMPTS_MAX = 64;

interface Entry {
  /** Of its attempts the one that was answered first; until then all that are under way: never empty. */
  callIds: readonly string[];
  atMs: number;
  readonly role: string;
  /** Messages its request had. */
  readonly messageCount: number;
  readonly prompt: PromptPrint;
  answer: AnswerPrint | null;
  readonly excerpt: Excerpt;
}

const NO_MATCH: StepMatch = { isSimilarPrompt: false, isSimilarResponse: false, repeatedToolCallCount: 0 };
const NO_INDEXES: ReadonlySet<number> = new Set();
const NO_ENTRIES: readonly Entry[] = [];
const CROWD: StepMatch = { ...NO_MATCH, isSimilarPrompt: true };

export class KillSwitchWindow {
  readonly #entries: Entry[] = [];
  /** Of the entries, in their order. */
  readonly #marks = new StepMarks();
  /** The latest request, if it failed or was stopped. */
  #failed: PromptPrint | null = null;
  /** Of the latest request. */
  score = 0;
  /** Of all entries. */
  chars = 0;

  /**
   * Scores the request against the earlier steps, and remembers it when it may go on. One that is stopped is not
   * remembered: it never was a request to the model.
   *
   * @param sizeMax earlier requests to compare with
   * @param threshold fires strictly above
   */
  decide(observed: ObservedRequest, sizeMax: number, threshold: number): KillSwitchDecision {
    this.#cutTo(sizeMax);
    const prompt = this.#printOf(observed);
    const mayRecur = this.#marks.mayRecur(prompt);
    const underWay = mayRecur
      ? this.#latest((one) => one.answer === null && isSimilarPrompt(one.prompt, prompt))
      : undefined;
    const retried = mayRecur && observed.is_retry && underWay === undefined ? this.#retriedBy(prompt) : null;
    this.#failed = null;
    const earlier = !mayRecur ? NO_ENTRIES : retried === null ? this.#entries : this.#entries.slice(0, -1);
    const crowd = Math.max(0, (underWay?.callIds.length ?? 0) + 1 - ATTEMPTS_MAX);
    const { breakdown, matches } = scoreRequest(earlier, prompt, crowd);
    this.score = breakdown.score;
    const entry = {
      callIds: [observed.call_id],
      atMs: observed.at_ms,
      role: observed.role,
      messageCount: observed.request.message_count,
      prompt,
      answer: null,
      excerpt: excerptOfRequest(observed.request),
    };
    if (breakdown.score > threshold) {
      this.#failed = prompt;
      const matchOf = (one: Entry, index: number) =>
        crowd > 0 && one === underWay ? CROWD : (matches[index] ?? NO_MATCH);
      const evidence = earlier.map((one, index) => earlierEvidence(one, prompt, matchOf(one, index)));
      const counted = earlier.filter((_, index) => (matches[index]?.repeatedToolCallCount ?? 0) > 0);
      return { kind: 'block', breakdown, evidence: [...evidence, stoppedEvidence(entry, counted)] };
    }
    if (underWay !== undefined) {
      underWay.callIds = [...underWay.callIds, observed.call_id];
      return { kind: 'forward', breakdown };
    }
    if (retried !== null) this.#remove(this.#entries.length - 1);
    this.#entries.push(entry);
    this.#marks.push(prompt);
    this.chars += charsOf(entry);
    this.#cutTo(sizeMax);
    return { kind: 'forward', breakdown };
  }

  /** Nothing where the request has left the window, or was never in it. */
  recordAnswer(callId: string, answer: LlmAnswer): void {
    const entry = this.#latest((one) => one.callIds.includes(callId));
    if (entry === undefined) return;
    this.chars -= charsOf(entry);
    // Nothing becomes of the others any more, whether they are answered or fail.
    entry.callIds = [callId];
    entry.answer = answerPrint(answer);
    entry.excerpt.response = excerptOfAnswer(answer);
    this.chars += charsOf(entry);
  }

  /** As if the request had never been made. The step stays while there are other attempts of it. */
  drop(callId: string): void {
    const index = this.#entries.findLastIndex((one) => one.callIds.includes(callId));
    const entry = this.#entries[index];
    if (entry === undefined) return;
    const others = entry.callIds.filter((one) => one !== callId);
    if (others.length > 0) {
      entry.callIds = others;
      return;
    }
    if (index === this.#entries.length - 1) this.#failed = entry.prompt;
    this.#remove(index);
  }

  /** The agent's own calls are in the window, since their answers are; those of one that handed over to it are another's. */
  #printOf({ request, role, wordsSince }: ObservedRequest): PromptPrint {
    const prompt = promptPrint(request, this.#entries.at(-1)?.answer?.callKeys ?? []);
    // A call that was written as text stands in no answer's calls.
    if (request.newest.tool_results.length === 0) return prompt;
    const keys = new Set(prompt.results.map(({ callKey }) => callKey));
    const isAsked = (callKey: string) => keys.has(callKey);
    const isOwn = (one: Entry) => one.role === role && one.answer?.callKeys.some(isAsked);
    if (keys.has(null) || this.#entries.some(isOwn)) return prompt;
    const isBefore = (one: Entry) => one.role === role && one.messageCount < request.message_count;
    // Not the first attempt of this very request.
    const before = this.#latest((one) => one.answer !== null && isBefore(one));
    if (!before?.answer || isEmptyAnswer(before.answer)) return prompt;
    return handedOver(prompt, wordsSince(before.messageCount));
  }

  /**
   * The request in the window that this one is a retry of, and whose place it takes. Null when that one failed or
   * was stopped: it is not there, and an equal one before it is another step.
   */
  #retriedBy(prompt: PromptPrint): Entry | null {
    if (this.#failed !== null && isSimilarPrompt(this.#failed, prompt)) return null;
    const latest = this.#entries.at(-1);
    return latest !== undefined && isSimilarPrompt(latest.prompt, prompt) ? latest : null;
  }

  /** As `findLast`, which is called, and calls, for each request of every agent: V8 makes one piece of code of this. */
  #latest(passes: (entry: Entry) => boolean): Entry | undefined {
    for (let index = this.#entries.length - 1; index >= 0; index -= 1) {
      const entry = this.#entries[index] as Entry;
      if (passes(entry)) return entry;
    }
    return undefined;
  }

  #cutTo(sizeMax: number): void {
    while (this.#entries.length > sizeMax) this.#remove(0);
  }

  #remove(index: number): void {
    const [entry] = this.#entries.splice(index, 1);
    this.#marks.remove(index);
    if (entry !== undefined) this.chars -= charsOf(entry);
  }
}

/** What a result's print, and a call's key, take of memory, as so many characters: many small ones outweigh what is kept of their texts. */
const RESULT_CHARS = 340;
const CALL_KEY_CHARS = 110;

const charsOf = ({ excerpt, prompt, answer }: Entry): number =>
  excerptSize(excerpt) +
  prompt.results.length * RESULT_CHARS +
  (answer?.callKeys.length ?? 0) * CALL_KEY_CHARS;

function earlierEvidence(entry: Entry, stopped: PromptPrint, match: StepMatch): IncidentEvidence {
  const repeated = match.repeatedToolCallCount === 0 ? NO_INDEXES : repeatedIndexes(entry.prompt, [stopped]);
  return { ...evidenceOf(entry, match, repeated), prompt_distance: promptDistance(entry.prompt, stopped) };
}

/** @param counted the earlier requests whose calls it repeats */
function stoppedEvidence(entry: Entry, counted: readonly Entry[]): IncidentEvidence {
  const repeated = repeatedIndexes(
    entry.prompt,
    counted.map(({ prompt }) => prompt),
  );
  return { ...evidenceOf(entry, NO_MATCH, repeated), prompt_distance: null };
}

function evidenceOf(entry: Entry, match: StepMatch, repeated: ReadonlySet<number>) {
  const excerpt = redactedExcerpt(entry.excerpt);
  return {
    call_id: entry.callIds[0] as string,
    at_ms: entry.atMs,
    ...excerpt,
    tool_calls: excerpt.tool_calls.map((call, index) => ({ ...call, is_repeated: repeated.has(index) })),
    is_similar_prompt: match.isSimilarPrompt,
    is_similar_response: match.isSimilarResponse,
    repeated_tool_call_count: match.repeatedToolCallCount,
  };
}
