/** Reads `POST /responses`, whole conversations and continuations (`previous_response_id`) alike. */
import type { LlmRequest, NewestTurn } from '#contracts';
import { CallIndex, type CollectCalls } from '../call-index.js';
import { collectDigests, resultTextOf, textOf } from '../content-parts.js';
import { endUser } from '../end-user.js';
import { continuedTurn, emptyTurn, startOfTurn } from '../newest-turn.js';
import { asBound, asList, asModel, asName, asRecord, asText, type JsonRecord } from '../read-json.js';
import { isMessage, isModelItem, isResultItem, readCallItem, readResponsesPart } from './items.js';

export function readResponsesRequest(body: unknown): LlmRequest {
  const request = asRecord(body) ?? {};
  const input = inputItems(request.input);
  const system = [asText(request.instructions)].filter((text) => text !== '');
  let firstUser: string | null = null;
  for (const value of input) {
    const item = asRecord(value);
    if (!item || !isMessage(item)) continue;
    if (item.role === 'system' || item.role === 'developer') {
      system.push(textOf(item.content, readResponsesPart));
    } else if (item.role === 'user') firstUser ??= textOf(item.content, readResponsesPart);
  }
  return {
    dialect: 'openai-responses',
    model: asModel(request.model),
    stream: request.stream === true,
    system_text: system.join('\n'),
    first_user_text: firstUser ?? '',
    end_user: endUser(request),
    continues: asName(request.previous_response_id),
    is_kept: true,
    conversation: asName(request.conversation) ?? asName(asRecord(request.conversation)?.id),
    newest: readNewest(input),
    output_tokens_max: asBound(request.max_output_tokens),
    message_count: input.length,
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
      const text = textOf(item.content, readResponsesPart);
      if (text !== '') texts.push(text);
      collectDigests(item.content, readResponsesPart, turn.attachment_digests);
    } else if (isResultItem(item)) {
      turn.tool_results.push({
        // Null when the call is in an earlier response, which the vendor keeps.
        call: calls.find(callKey(item)) ?? null,
        text: resultTextOf(item.output, readResponsesPart, turn.attachment_digests),
        failed: item.status === 'failed',
      });
    }
  }
  turn.user_text = texts.join('\n');
  return turn;
}

const collectCalls: CollectCalls = (item, add) => {
  if (isModelItem(item)) add(callKey(item), item);
};

/** A local shell's output has the call's id as its own. */
const callKey = (item: JsonRecord): string => asText(item.call_id) || asText(item.id);
