/** The requests of one agent, or of one of its sessions, that the next one is compared with. Oldest leave first. */
import type { IncidentEvidence, LlmAnswer, LlmRequest, ScoreBreakdown } from '#contracts';
import { type AnswerPrint, answerPrint } from './answer-print.js';
import { type Excerpt, excerptOfAnswer, excerptOfRequest, excerptSize, redactedExcerpt } from './excerpt.js';
import { isSimilarPrompt, type PromptPrint, promptDistance, promptPrint } from './prompt-print.js';
import { type StepMatch, scoreRequest } from './score.js';

/** One request as it comes to the kill switch. */
export interface ObservedRequest {
  call_id: string;
  /** Unix milliseconds. */
  at_ms: number;
  request: LlmRequest;
  /** A client SDK's own retry: the same step, not another one. */
  is_retry: boolean;
}

export type KillSwitchDecision =
  | { kind: 'forward'; breakdown: ScoreBreakdown }
  | {
      kind: 'block';
      breakdown: ScoreBreakdown;
      /** The window, oldest first, and last the request that is stopped; redacted. */
      evidence: IncidentEvidence[];
    };

interface Entry {
  callId: string;
  atMs: number;
  readonly prompt: PromptPrint;
  answer: AnswerPrint | null;
  readonly excerpt: Excerpt;
}

const NO_MATCH: StepMatch = { isSimilarPrompt: false, isSimilarResponse: false, repeatedToolCallCount: 0 };

export class KillSwitchWindow {
  readonly #entries: Entry[] = [];
  /** The latest request, if it failed or was stopped. */
  #failed: PromptPrint | null = null;
  /** Of the latest request. */
  score = 0;
  /** Characters of all excerpts. */
  excerptChars = 0;

  /**
   * Scores the request against the earlier ones, and remembers it when it may go on. One that is stopped is not
   * remembered: it never was a request to the model.
   *
   * @param sizeMax earlier requests to compare with
   * @param threshold fires strictly above
   */
  decide(observed: ObservedRequest, sizeMax: number, threshold: number): KillSwitchDecision {
    this.#cutTo(sizeMax);
    const prompt = promptPrint(observed.request, this.#entries.at(-1)?.answer?.callKeys ?? []);
    const retried = observed.is_retry ? this.#retriedBy(prompt) : null;
    this.#failed = null;
    const earlier = retried === null ? this.#entries : this.#entries.slice(0, -1);
    const { breakdown, matches } = scoreRequest(earlier, prompt);
    this.score = breakdown.score;
    const entry = {
      callId: observed.call_id,
      atMs: observed.at_ms,
      prompt,
      answer: null,
      excerpt: excerptOfRequest(observed.request),
    };
    if (breakdown.score > threshold) {
      this.#failed = prompt;
      const evidence = earlier.map((one, index) => evidenceOf(one, prompt, matches[index] ?? NO_MATCH));
      return { kind: 'block', breakdown, evidence: [...evidence, evidenceOf(entry, null, NO_MATCH)] };
    }
    if (retried !== null) this.#remove(this.#entries.length - 1);
    this.#entries.push(entry);
    this.excerptChars += excerptSize(entry.excerpt);
    this.#cutTo(sizeMax);
    return { kind: 'forward', breakdown };
  }

  /** @returns false when the request has left the window, or was never in it */
  recordAnswer(callId: string, answer: LlmAnswer): boolean {
    const entry = this.#entries.findLast((one) => one.callId === callId);
    if (entry === undefined) return false;
    entry.answer = answerPrint(answer);
    this.excerptChars -= excerptSize(entry.excerpt);
    entry.excerpt.response = excerptOfAnswer(answer);
    this.excerptChars += excerptSize(entry.excerpt);
    return true;
  }

  /** As if the request had never been made. */
  drop(callId: string): void {
    const index = this.#entries.findLastIndex((one) => one.callId === callId);
    if (index < 0) return;
    if (index === this.#entries.length - 1) this.#failed = this.#entries[index]?.prompt ?? null;
    this.#remove(index);
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

  #cutTo(sizeMax: number): void {
    while (this.#entries.length > sizeMax) this.#remove(0);
  }

  #remove(index: number): void {
    const [entry] = this.#entries.splice(index, 1);
    if (entry !== undefined) this.excerptChars -= excerptSize(entry.excerpt);
  }
}

const evidenceOf = (entry: Entry, stopped: PromptPrint | null, match: StepMatch): IncidentEvidence => ({
  call_id: entry.callId,
  at_ms: entry.atMs,
  ...redactedExcerpt(entry.excerpt),
  is_similar_prompt: match.isSimilarPrompt,
  is_similar_response: match.isSimilarResponse,
  repeated_tool_call_count: match.repeatedToolCallCount,
  prompt_distance: stopped === null ? null : promptDistance(entry.prompt, stopped),
});
