/** Reads `POST /responses`, whole conversations and continuations (`previous_response_id`) alike. */
import type { LlmRequest, NewestTurn } from '#contracts';
import { CallIndex, type CollectCalls } from '../call-index.js';
import { collectDigests, collectTexts, resultTextOf, textOf } from '../content-parts.js';
import { endUser } from '../end-user.js';
import { continuedTurn, emptyTurn, startOfTurn, takeUserTexts } from '../newest-turn.js';
import { Opening } from '../opening.js';
import { isOutputTool } from '../output-tool.js';
import { asBound, asList, asModel, asName, asRecord, asText, type JsonRecord } from '../read-json.js';
import { tellsFailure } from '../tells-failure.js';
import { isMessage, isModelItem, isResultItem, readCallItem, readResponsesPart } from './items.js';

export function readResponsesRequest(body: unknown): LlmRequest {
  const request = asRecord(body) ?? {};
  const input = inputItems(request.input);
  const opening = new Opening();
  opening.addSystem(asText(request.instructions));
  for (const value of input) {
    const item = asRecord(value);
    if (!item) continue;
    if (opening.isOver && isModelItem(item)) break;
    if (!isMessage(item)) continue;
    if (item.role === 'system' || item.role === 'developer') {
      opening.addSystem(textOf(item.content, readResponsesPart));
    } else if (item.role === 'user') opening.addUser(item.content, readResponsesPart);
  }
  return {
    model: asModel(request.model),
    stream: request.stream === true,
    system_text: opening.systemText,
    first_user_text: opening.firstUserText,
    end_user: endUser(request),
    continues: asName(request.previous_response_id),
    is_kept: true,
    conversation: asName(request.conversation) ?? asName(asRecord(request.conversation)?.id),
    newest: readNewest(input),
    output_tokens_max: asBound(request.max_output_tokens),
    message_count: input.length,
    answers_in_tool: isOutputTool(request.tools, request.tool_choice),
    ...(asRecord(request.prompt_cache_options)?.prewarm === true && { only_warms: true }),
  };
}

/** A string is short for one user message. */
const inputItems = (input: unknown): readonly unknown[] =>
  typeof input === 'string' ? [{ role: 'user', content: input }] : asList(input);

function readNewest(input: readonly unknown[]): NewestTurn {
  const start = startOfTurn(input, input.length, isModelItem);
  const turn = emptyTurn(start === input.length ? continuedTurn(input, start, isModelItem) : undefined);
  const calls = new CallIndex(input, start, collectCalls, readCallItem);
  const texts: string[] = [];
  for (let index = start; index < input.length; index++) {
    const item = asRecord(input[index]);
    if (!item) continue;
    if (isMessage(item)) {
      if (item.role !== 'user') continue;
      collectTexts(item.content, readResponsesPart, texts);
      collectDigests(item.content, readResponsesPart, turn.attachment_digests);
    } else if (isResultItem(item)) {
      // Null when the call is in an earlier response, which the vendor keeps.
      const call = calls.find(callKey(item)) ?? null;
      // A search for tools comes back with tools.
      const text = resultTextOf(item.output ?? item.tools, readResponsesPart, turn.attachment_digests);
      // A client says `completed` of its own call, however the tool fared.
      turn.tool_results.push({ call, text, failed: item.status === 'failed' || tellsFailure(text) });
    }
  }
  takeUserTexts(turn, texts, input, start, isModelItem);
  return turn;
}

const collectCalls: CollectCalls = (item, add) => {
  if (isModelItem(item)) add(callKey(item), item);
};

/** A local shell's output has the call's id as its own. */
const callKey = (item: JsonRecord): string => asText(item.call_id) || asText(item.id);
