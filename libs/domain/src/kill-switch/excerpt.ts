/**
 * What is kept of a request and its answer so that an incident can show them: a thousand characters of each, and what tells whether
 * a secret lies across the cut, copied, because a slice of a string keeps the whole of it alive. Kept as it came and redacted
 * when an incident is made; it leaves memory by no other way.
 */
import type { IncidentEvidence, LlmAnswer, LlmRequest, LlmToolCall } from '#contracts';
import { resultsOf } from './prompt-print.js';
import { READ_BEYOND_CHARS, redactedStart } from './redact.js';

const EXCERPT_CHARS_MAX = 1_000;
/** Of a tool call's arguments, and of its result. */
const CALL_CHARS_MAX = 300;
const CALL_COUNT_MAX = 5;

type ToolCalls = Omit<IncidentEvidence['tool_calls'][number], 'is_repeated'>[];

export interface Excerpt {
  prompt: string;
  /** Null while unanswered. */
  response: AnswerExcerpt | null;
  toolCalls: ToolCalls;
}

interface AnswerExcerpt {
  text: string;
  /** That the model made instead or besides. */
  calls: Pick<LlmToolCall, 'name' | 'arguments'>[];
}

export const excerptOfRequest = ({ newest }: LlmRequest): Excerpt => ({
  prompt: cut(newest.continued ?? newest.user_text, EXCERPT_CHARS_MAX),
  response: null,
  toolCalls: resultsOf(newest)
    .slice(0, CALL_COUNT_MAX)
    .map(({ call, text }) => ({
      name: cut(call?.name ?? '', CALL_CHARS_MAX),
      arguments: cut(call?.arguments ?? '', CALL_CHARS_MAX),
      result: cut(text, CALL_CHARS_MAX),
    })),
});

export const excerptOfAnswer = ({ text, tool_calls }: LlmAnswer): AnswerExcerpt => ({
  text: cut(text, EXCERPT_CHARS_MAX),
  calls: tool_calls.slice(0, CALL_COUNT_MAX).map(({ name, arguments: args }) => ({
    name: cut(name, CALL_CHARS_MAX),
    arguments: cut(args, CALL_CHARS_MAX),
  })),
});

export const redactedExcerpt = ({ prompt, response, toolCalls }: Excerpt) => ({
  prompt: redactedStart(prompt, EXCERPT_CHARS_MAX),
  response: response && redactedResponse(response),
  tool_calls: toolCalls.map((call) => ({
    name: ofCall(call.name),
    arguments: ofCall(call.arguments),
    result: ofCall(call.result),
  })),
});

/** The text, and below it the calls. */
function redactedResponse({ text, calls }: AnswerExcerpt): string {
  const lines = calls.map((call) => `-> ${ofCall(call.name)}(${ofCall(call.arguments)})`);
  return [redactedStart(text, EXCERPT_CHARS_MAX), ...lines]
    .filter(Boolean)
    .join('\n')
    .slice(0, EXCERPT_CHARS_MAX);
}

const ofCall = (text: string): string => redactedStart(text, CALL_CHARS_MAX);

/** Characters an excerpt holds. */
export const excerptSize = ({ prompt, response, toolCalls }: Excerpt): number =>
  prompt.length + sizeOf(toolCalls) + (response === null ? 0 : response.text.length + sizeOf(response.calls));

const sizeOf = (calls: readonly { name: string; arguments: string; result?: string }[]): number =>
  calls.reduce((sum, call) => sum + call.name.length + call.arguments.length + (call.result?.length ?? 0), 0);

/** A copy of the beginning, by way of bytes; half a character at the cut becomes U+FFFD. */
const cut = (text: string, charsMax: number): string =>
  text === '' ? '' : Buffer.from(text.slice(0, charsMax + READ_BEYOND_CHARS)).toString();
