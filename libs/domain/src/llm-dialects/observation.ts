/**
 * Tools without a field on the wire: the model writes its call into its text, and its client writes what the tool came back with
 * behind `Observation:`, in the user's next message (LlamaIndex, smolagents, SWE-agent), behind the model's own words (crewAI), or
 * behind them in the one message that is sent anew each time, longer (LangChain's ReAct): its scratchpad. Only that and the call together are a tool's result; a person may begin a message with the same word. Calls are read to be told
 * apart, and are never carried out.
 */
import type { LlmToolCall, LlmToolResult } from '#contracts';
import { tellsFailure } from './tells-failure.js';

const MARK = '\nObservation:';
const BEGINS_WITH_MARK = /^\s*Observation:/i;

/** Whether a message may be one; cheap. */
export const beginsAsObservation = (text: string): boolean => BEGINS_WITH_MARK.test(text);

/**
 * @param text of a message of the user's
 * @param words of the model, which it answers
 * @returns undefined where the model wrote no call
 */
export const observationIn = (text: string, words: string): LlmToolResult | undefined =>
  resultOf(writtenCall(words), text.slice(text.indexOf(':') + 1));

/**
 * @param words of a message of the model's
 * @returns undefined where they hold no call, or nothing behind it; of several the last
 */
export function observationBehind(words: string): LlmToolResult | undefined {
  const at = words.lastIndexOf(MARK);
  return at === -1
    ? undefined
    : resultOf(writtenCall(words.slice(0, at)), withoutCue(words.slice(at + MARK.length)));
}

/** In LangChain's prompts in front of what is asked, of which each has words of its own. */
const BEGIN = '\nBegin!';
/** Where the model's words begin. */
const CUE = '\nThought:';

/** A message of the user's in two: what is asked, and the scratchpad, "" for none. */
export function partScratchpad(text: string): { asked: string; scratchpad: string } {
  const begin = text.indexOf(BEGIN);
  if (begin === -1) return { asked: text, scratchpad: '' };
  const cue = text.indexOf(CUE, begin);
  const end = cue === -1 ? text.length : cue;
  return { asked: text.slice(0, end).trimEnd(), scratchpad: text.slice(end) };
}

/** The word at which the model is to go on. */
const withoutCue = (text: string): string => text.trimEnd().replace(/\nThought:$/, '');

function resultOf(call: LlmToolCall | null, came: string): LlmToolResult | undefined {
  const text = came.trim();
  return call === null ? undefined : { call, text, failed: tellsFailure(text) };
}

/** What smolagents writes behind the model's words, with an id that is another each time. */
const LIST_MARK = 'Calling tools:\n[';
const LISTED_ID = /'id': '[^'\n]*', (?='type': 'function')/g;

const ACTION = 'Action:';
const INPUT = 'Action Input:';

/** The latest action in the model's words that has a name and an input, in ReAct's form; null: there is none. */
export function writtenAction(words: string): LlmToolCall | null {
  const input = words.lastIndexOf(INPUT);
  const action = input < 1 ? -1 : words.lastIndexOf(ACTION, input - 1);
  if (action === -1) return null;
  const name = words.slice(action + ACTION.length, input).trim();
  return name === '' || name.includes('\n') ? null : callOf(name, words.slice(input + INPUT.length));
}

/** The latest call in the model's words: a list of smolagents', an action with its input or without, a block of code. */
function writtenCall(words: string): LlmToolCall | null {
  const list = words.lastIndexOf(LIST_MARK);
  if (list !== -1) return callOf('tools', words.slice(list + LIST_MARK.length - 1).replace(LISTED_ID, ''));
  const named = writtenAction(words);
  if (named !== null) return named;
  const action = words.lastIndexOf(ACTION);
  if (action !== -1) return callOf('action', words.slice(action + ACTION.length));
  const code = codeStart(words);
  return code === -1 ? null : callOf('code', words.slice(code));
}

/** Of the last block; one that a stop sequence cut off has no end. -1: there is none. */
function codeStart(words: string): number {
  const tag = words.lastIndexOf('<code>');
  const fence = words.lastIndexOf('```');
  if (tag !== -1 || fence === -1) return tag;
  const opening = fence === 0 ? -1 : words.lastIndexOf('```', fence - 1);
  return opening === -1 ? fence : opening;
}

const callOf = (name: string, args: string): LlmToolCall => ({
  id: null,
  name,
  arguments: args.trim(),
});
