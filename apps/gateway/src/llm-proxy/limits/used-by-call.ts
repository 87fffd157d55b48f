/** How much a call may use, before it is sent, and how much it has used, when it is over. */
import type { LlmAnswer, Usage } from '#contracts';
import { estimateUsage, OUTPUT_TOKENS_ESTIMATE } from '#domain/policy';
import type { ProxyCall } from '../proxy-call.js';

/** What a call has used, or may use. */
export interface Used {
  /** 0: no upstream had it, or one failed it before an answer. */
  requests: 0 | 1;
  usage: Readonly<Usage>;
  /** `unknown`: for something else than tokens, so that no price here says how much. */
  paid: 'nothing' | 'by_token' | 'unknown';
}

const NO_TOKENS: Readonly<Usage> = {
  input_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
};
export const NOT_USED: Used = { requests: 0, usage: NO_TOKENS, paid: 'nothing' };
/** Answered from the cache, or for a list: it was a call, and took no tokens from anybody. */
const FREE: Used = { requests: 1, usage: NO_TOKENS, paid: 'nothing' };
const UNKNOWN: Used = { requests: 1, usage: NO_TOKENS, paid: 'unknown' };
export const byToken = (usage: Usage): Used => ({ requests: 1, usage, paid: 'by_token' });

export function estimateOf(call: ProxyCall): Used {
  if (call.unread?.takes === 'nothing') return FREE;
  if (call.unread?.takes === 'unknown') return UNKNOWN;
  return estimated(call, outputTokensMax(call));
}

const estimated = (call: ProxyCall, outputTokens: number): Used =>
  byToken(estimateUsage(bytesOf(call), outputTokens));

/** Of a request that sets no bound a guess, for each of the answers that it asks for. */
function outputTokensMax({ summary, unread }: ProxyCall): number {
  const request = summary ?? unread;
  return request?.output_tokens_max ?? OUTPUT_TOKENS_ESTIMATE * (request?.choice_count ?? 1);
}

/** What it has used when it is over, as far as anybody can tell. */
export function usedBy(call: ProxyCall): Used {
  if (call.decision === 'cached') return FREE;
  const { summary, answer } = call;
  if (!call.wasTakenUp) return NOT_USED;
  if (summary === null)
    return call.isAnswered && answer?.usage && !call.unsettled ? byToken(answer.usage) : estimateOf(call);
  const tokensSeen = Math.ceil(charsOf(answer) / 4);
  // The end of one of several choices is not the answer's.
  const hasEnd = answer !== null && answer.finish !== null && (summary.choice_count ?? 1) === 1;
  if (call.isAnswered || hasEnd) {
    if (answer?.usage)
      return summary.stream && answer.finish === null
        ? soFar(answer.usage, tokensSeen)
        : byToken(answer.usage);
    // An answer that says nothing at all, such as one of OpenAI's background mode, is no sign of what was used.
    if (hasEnd || tokensSeen > 0) return estimated(call, tokensSeen);
  }
  const isSeen = isBrokenOff(call) || (call.wasShutDown && tokensSeen > 0);
  const outputTokens = isSeen ? tokensSeen : Math.max(tokensSeen, outputTokensMax(call));
  return answer?.usage?.input_tokens ? soFar(answer.usage, outputTokens) : estimated(call, outputTokens);
}

/**
 * Of a stream that ends in the middle of its answer. Its vendor has told at the beginning what the prompt takes; of the output, and what it
 * charges, that is not the last word.
 */
function soFar({ charged_usd: _, ...tokens }: Usage, outputTokens: number): Used {
  return byToken({ ...tokens, output_tokens: Math.max(tokens.output_tokens, outputTokens) });
}

/** As far as it could be read. */
const charsOf = (answer: LlmAnswer | null): number =>
  (answer?.tool_calls ?? []).reduce(
    (chars, { name, arguments: json }) => chars + name.length + json.length,
    (answer?.text.length ?? 0) + (answer?.chars_beside ?? 0),
  );

/** By the upstream, in mid-answer, in which the agent has no part. Where no answer had begun, the status is our refusal's. */
const isBrokenOff = ({ decision, status }: ProxyCall): boolean =>
  decision === 'upstream_failed' && status >= 200 && status < 300;

/** As many as a text has that takes what the request takes. */
const bytesOf = ({ bodyBytes, summary }: ProxyCall): number => bodyBytes - (summary?.mediaExcessBytes ?? 0);
