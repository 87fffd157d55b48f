/** How the score of an incident came about: counts times weights, per signal and per request. Pure. */
import { type IncidentEvidence, SCORE_WEIGHTS, type ScoreBreakdown } from '#contracts';

export type ScoreSignal = keyof typeof SCORE_WEIGHTS;

export interface ScoreTerm {
  signal: ScoreSignal;
  label: string;
  count: number;
  weight: number;
  points: number;
}

const LABELS: Record<ScoreSignal, string> = {
  similar_prompts: 'Similar prompts',
  similar_responses: 'Similar answers',
  repeated_tool_calls: 'Repeated tool calls',
};

export const scoreTerms = (breakdown: ScoreBreakdown): ScoreTerm[] =>
  (Object.keys(SCORE_WEIGHTS) as ScoreSignal[]).map((signal) => ({
    signal,
    label: LABELS[signal],
    count: breakdown[signal],
    weight: SCORE_WEIGHTS[signal],
    points: breakdown[signal] * SCORE_WEIGHTS[signal],
  }));

type Marks = Pick<IncidentEvidence, 'is_similar_prompt' | 'is_similar_response' | 'repeated_tool_call_count'>;

/** What one request added to the score. */
export const pointsOf = (evidence: Marks): number =>
  (evidence.is_similar_prompt ? SCORE_WEIGHTS.similar_prompts : 0) +
  (evidence.is_similar_response ? SCORE_WEIGHTS.similar_responses : 0) +
  evidence.repeated_tool_call_count * SCORE_WEIGHTS.repeated_tool_calls;

export interface EvidenceView {
  /** The request that was stopped; undefined for an incident without evidence. */
  stopped: IncidentEvidence | undefined;
  /** Requests before it, newest first. */
  earlier: IncidentEvidence[];
  /** Those of the earlier prompts that are similar to the stopped one. */
  similarPrompts: readonly string[];
  /** The request whose answer the similar ones are compared with: the latest similar prompt's; undefined where none is. */
  reference: IncidentEvidence | undefined;
  /** The answers that are similar to that one's, its own left out. */
  similarResponses: readonly string[];
  /** Calls of the stopped turn, as keys of `shownCallKey`. */
  stoppedCalls: ReadonlySet<string>;
  /** Calls of the earlier requests that count for their calls, likewise. */
  countedCalls: ReadonlySet<string>;
}

type ToolCall = IncidentEvidence['tool_calls'][number];

/**
 * Whether the stopped turn repeats a call of an earlier request that counted for its calls, or has one that repeats. The gateway
 * says so, which compared all of them; in an incident of before it did, what is shown of them is.
 */
export const isRepeatedCall = (call: ToolCall, evidence: IncidentEvidence, view: EvidenceView): boolean =>
  evidence === view.stopped
    ? (call.is_repeated ?? view.countedCalls.has(shownCallKey(call)))
    : evidence.repeated_tool_call_count > 0 &&
      (call.is_repeated ?? view.stoppedCalls.has(shownCallKey(call)));

const shownCallKey = (call: ToolCall): string => `${call.name}\0${call.arguments}`;

const callKeys = (requests: readonly IncidentEvidence[]): ReadonlySet<string> =>
  new Set(requests.flatMap(({ tool_calls }) => tool_calls.map(shownCallKey)));

/** @param evidence oldest first, the stopped request last */
export function viewEvidence(evidence: readonly IncidentEvidence[]): EvidenceView {
  const stopped = evidence.at(-1);
  const earlier = evidence.slice(0, -1).reverse();
  const similarResponses = earlier.flatMap(({ is_similar_response, response }) =>
    is_similar_response && response !== null ? [response] : [],
  );
  const latest = earlier.find(({ is_similar_prompt, response }) => is_similar_prompt && response !== null);
  return {
    stopped,
    earlier,
    similarPrompts: earlier.filter((one) => one.is_similar_prompt).map(({ prompt }) => prompt),
    reference: similarResponses.length > 0 ? latest : undefined,
    similarResponses,
    stoppedCalls: callKeys(stopped ? [stopped] : []),
    countedCalls: callKeys(earlier.filter((one) => one.repeated_tool_call_count > 0)),
  };
}
