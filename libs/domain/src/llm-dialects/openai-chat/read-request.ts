/** Reads `POST /chat/completions`. */
import type { LlmRequest, NewestTurn } from '#contracts';
import { CallIndex, type CollectCalls } from '../call-index.js';
import { collectDigests, collectTexts, resultTextOf, textOf } from '../content-parts.js';
import { endUser } from '../end-user.js';
import { emptyTurn, findNewest, takeUserTexts } from '../newest-turn.js';
import { Opening } from '../opening.js';
import { isOutputTool } from '../output-tool.js';
import { asBound, asList, asModel, asRecord, asText, type JsonRecord } from '../read-json.js';
import { tellsFailure } from '../tells-failure.js';
import { triedCount } from '../tried-count.js';
import { readChatCall, readChatPart } from './parts.js';

export function readChatRequest(body: unknown): LlmRequest {
  const request = asRecord(body) ?? {};
  const messages = asList(request.messages);
  const opening = new Opening();
  const choices = triedCount(request);
  for (const value of messages) {
    const message = asRecord(value);
    if (message?.role === 'system' || message?.role === 'developer') {
      opening.addSystem(textOf(message.content, readChatPart));
    } else if (message?.role === 'user') opening.addUser(message.content, readChatPart);
    else if (message && isModel(message) && opening.isOver) break;
  }
  return {
    model: asModel(request.model),
    stream: request.stream === true,
    system_text: opening.systemText,
    first_user_text: opening.firstUserText,
    end_user: endUser(request),
    newest: readNewest(messages),
    output_tokens_max: asBound(outputTokensMax(request) * choices),
    choice_count: choices,
    message_count: messages.length,
    answers_in_tool: isOutputTool(request.tools, request.tool_choice),
  };
}

/** Of one choice; 0 where none is set. Not every upstream knows the newer name: of two, the larger may be in force. */
const outputTokensMax = (request: JsonRecord): number =>
  Math.max(asBound(request.max_completion_tokens) ?? 0, asBound(request.max_tokens) ?? 0);

function readNewest(messages: readonly unknown[]): NewestTurn {
  const { start, end, continued } = findNewest(messages, isModel, plainText);
  const turn = emptyTurn(continued);
  const calls = new CallIndex(messages, start, collectCalls, (call) => readChatCall(call) ?? null);
  const texts: string[] = [];
  for (let index = start; index < end; index++) {
    const message = asRecord(messages[index]);
    if (message?.role === 'user') {
      collectTexts(message.content, readChatPart, texts);
      collectDigests(message.content, readChatPart, turn.attachment_digests);
    } else if (message?.role === 'tool' || message?.role === 'function') {
      const text = resultTextOf(message.content, readChatPart, turn.attachment_digests);
      const call = calls.find(resultKey(message)) ?? null;
      turn.tool_results.push({ call, text, failed: tellsFailure(text) });
    }
  }
  takeUserTexts(turn, texts, messages, start, isModel);
  return turn;
}

const isModel = (message: JsonRecord): boolean => message.role === 'assistant';

const plainText = (message: JsonRecord): string | null =>
  message.tool_calls || message.function_call ? null : textOf(message.content, readChatPart);

/** An older `function_call` has no id, and its result names the function. */
const collectCalls: CollectCalls = (message, add) => {
  if (!isModel(message)) return;
  for (const value of asList(message.tool_calls)) {
    const call = asRecord(value);
    if (call) add(asText(call.id), call);
  }
  const legacy = asRecord(message.function_call);
  if (legacy) add(functionKey(legacy.name), legacy);
};

/** Apart from ids, which hold no line feed. */
const functionKey = (name: unknown): string => `function\n${asText(name)}`;

const resultKey = (result: JsonRecord): string =>
  result.role === 'function' ? functionKey(result.name) : asText(result.tool_call_id);
