/**
 * What is kept of a request and its answer so that an incident can show them: a thousand characters of each, copied,
 * because a slice of a string keeps the whole of it alive. Kept as it came and redacted when an incident is made; it
 * leaves memory by no other way.
 */
import type { IncidentEvidence, LlmAnswer, LlmRequest } from '#contracts';
import { redact } from './redact.js';

const EXCERPT_CHARS_MAX = 1_000;
/** Of a tool call's arguments, and of its result. */
const CALL_CHARS_MAX = 300;
const CALL_COUNT_MAX = 5;

type ToolCalls = IncidentEvidence['tool_calls'];

export interface Excerpt {
  prompt: string;
  /** Null while unanswered. */
  response: string | null;
  toolCalls: ToolCalls;
}

export const excerptOfRequest = ({ newest }: LlmRequest): Excerpt => ({
  prompt: cut(newest.continued ?? newest.user_text, EXCERPT_CHARS_MAX),
  response: null,
  toolCalls: newest.tool_results.slice(0, CALL_COUNT_MAX).map(({ call, text }) => ({
    name: cut(call?.name ?? '', CALL_CHARS_MAX),
    arguments: cut(call?.arguments ?? '', CALL_CHARS_MAX),
    result: cut(text, CALL_CHARS_MAX),
  })),
});

/** The text, and below it the calls the model made instead or besides. */
export function excerptOfAnswer({ text, tool_calls }: LlmAnswer): string {
  const calls = tool_calls
    .slice(0, CALL_COUNT_MAX)
    .map(
      ({ name, arguments: args }) => `-> ${name.slice(0, CALL_CHARS_MAX)}(${args.slice(0, CALL_CHARS_MAX)})`,
    );
  // Copied once, all of it.
  return cut([text.slice(0, EXCERPT_CHARS_MAX), ...calls].filter(Boolean).join('\n'), EXCERPT_CHARS_MAX);
}

export const redactedExcerpt = ({ prompt, response, toolCalls }: Excerpt) => ({
  prompt: redactAndCut(prompt),
  response: response === null ? null : redactAndCut(response),
  tool_calls: toolCalls.map((call) => ({
    name: redactAndCut(call.name),
    arguments: redactAndCut(call.arguments),
    result: redactAndCut(call.result),
  })),
});

/** Characters an excerpt holds. */
export const excerptSize = ({ prompt, response, toolCalls }: Excerpt): number =>
  toolCalls.reduce(
    (sum, call) => sum + call.name.length + call.arguments.length + call.result.length,
    prompt.length + (response?.length ?? 0),
  );

/** What is put in place of a secret may be longer than the secret. */
const redactAndCut = (text: string): string => redact(text).slice(0, EXCERPT_CHARS_MAX);

/** A copy of the beginning, by way of bytes; half a character at the cut becomes U+FFFD. */
const cut = (text: string, charsMax: number): string =>
  text === '' ? '' : Buffer.from(text.slice(0, charsMax)).toString();
