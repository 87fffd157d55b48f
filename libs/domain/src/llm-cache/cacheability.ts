/** What may be kept of an answer. Where in doubt, nothing: a miss costs money, a wrong answer costs trust. */
import type { CachedAnswer, CanonicalRequest, FinishReason, LlmAnswer, NotStoredReason } from '#contracts';

export type Cacheability = { store: true; answer: CachedAnswer } | { store: false; reason: NotStoredReason };

const BY_FINISH: Readonly<Record<Exclude<FinishReason, 'stop' | 'tool_calls'>, NotStoredReason>> = {
  length: 'length',
  filtered: 'filtered',
  other: 'other_finish',
};

/**
 * Knows nothing of HTTP or of our own guards: the caller sees to it that the status was 200 and the call not hinted.
 *
 * @param answer null: it could not be read
 */
export function cacheability(
  request: Pick<CanonicalRequest, 'dialect' | 'model' | 'rest'>,
  answer: LlmAnswer | null,
): Cacheability {
  const reason = reasonAgainst(request, answer);
  if (reason !== null || answer === null) return { store: false, reason: reason ?? 'lossy' };
  const { answer_id, model, text, tool_calls, finish, usage } = answer;
  if (finish !== 'stop' && finish !== 'tool_calls') return { store: false, reason: 'other_finish' };
  // A replay would end the answer differently. Of Chat Completions a call that the request forced ends with `stop`.
  const isForcedCall = finish === 'stop' && request.dialect === 'openai-chat';
  if ((finish === 'tool_calls') !== tool_calls.length > 0 && !isForcedCall)
    return { store: false, reason: 'lossy' };
  return {
    store: true,
    answer: { dialect: request.dialect, answer_id, model, text, tool_calls, finish, usage },
  };
}

function reasonAgainst(
  request: Pick<CanonicalRequest, 'model' | 'rest'>,
  answer: LlmAnswer | null,
): NotStoredReason | null {
  if (isStateful(request)) return 'stateful';
  if (answer === null) return 'lossy';
  if (answer.failed) return 'failed';
  if (answer.finish === null) return 'unfinished';
  if (answer.finish !== 'stop' && answer.finish !== 'tool_calls') return BY_FINISH[answer.finish];
  if (!answer.lossless) return 'lossy';
  return answer.tool_calls.length === 0 && !/\S/.test(answer.text) ? 'empty' : null;
}

/** Fields of `rest`. A stored prompt can be edited at the vendor's, and the web is never the same. */
const STATEFUL_FIELDS = [
  'openai-responses.background',
  'openai-responses.conversation',
  'openai-responses.prompt',
  // An agent's run is never the same, and what goes on from a cut answer has its beginning elsewhere.
  'gemini-interactions.agent',
  'gemini-interactions.background',
  'gemini-interactions.continuation_token',
  'gemini-interactions.environment',
  // The vendor would know nothing of a turn that was answered from here, nor of its id.
  'anthropic.thread',
  'openai-chat.web_search_options',
  // Qwen's and xAI's, whose answers need not say that anything was searched.
  'openai-chat.enable_search',
  'openai-chat.search_parameters',
  // OpenRouter's, the web among them, and Azure's, which answer from an index.
  'openai-chat.plugins',
  'openai-chat.data_sources',
] as const;

/**
 * Models that search by themselves, with no word of it in the request: gpt-4o-search-preview, sonar-pro, o3-deep-research,
 * groq/compound, and OpenRouter's `<any>:online`.
 */
const SEARCHING_MODEL = /(?<![a-z])(?:search|sonar|research|online|compound)(?![a-z])/i;

/** Such a request is not to be answered from the cache either, and nobody need wait for another like it. */
export const isStateful = ({ model, rest }: Pick<CanonicalRequest, 'model' | 'rest'>): boolean =>
  SEARCHING_MODEL.test(model ?? '') ||
  // Azure names its deployment here.
  (typeof rest.path === 'string' && SEARCHING_MODEL.test(rest.path)) ||
  STATEFUL_FIELDS.some((name) => {
    const value = rest[name];
    return value !== undefined && value !== null && value !== false;
  });
