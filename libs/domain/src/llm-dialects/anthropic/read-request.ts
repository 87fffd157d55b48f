/** Reads `POST /v1/messages`. */
import type { LlmRequest, NewestTurn } from '#contracts';
import { CallIndex, type CollectCalls } from '../call-index.js';
import { collectDigests, collectTexts, resultTextOf, textOf } from '../content-parts.js';
import { emptyTurn, findNewest, takeUserTexts } from '../newest-turn.js';
import { Opening } from '../opening.js';
import { isOutputTool } from '../output-tool.js';
import { asBound, asList, asModel, asName, asRecord, asText, type JsonRecord } from '../read-json.js';
import { tellsFailure } from '../tells-failure.js';
import { readBlock, readToolUse } from './blocks.js';
import { vertexModel } from './vertex-path.js';

export function readMessagesRequest(body: unknown, path: string): LlmRequest {
  const request = asRecord(body) ?? {};
  const messages = asList(request.messages);
  const opening = new Opening();
  opening.addSystem(textOf(request.system, readBlock));
  const thread = asRecord(request.thread);
  for (const value of messages) {
    const message = asRecord(value);
    if (message?.role === 'system') opening.addSystem(textOf(message.content, readBlock));
    else if (message?.role === 'user') opening.addUser(message.content, readBlock);
    else if (message && isModel(message) && opening.isOver) break;
  }
  return {
    model: asModel(request.model) ?? asModel(vertexModel(path)),
    stream: request.stream === true,
    system_text: opening.systemText,
    first_user_text: opening.firstUserText,
    end_user: asName(asRecord(request.metadata)?.user_id),
    ...(thread !== undefined && { continues: asName(thread.previous_message_id), is_kept: true }),
    newest: readNewest(messages),
    output_tokens_max: asBound(request.max_tokens),
    message_count: messages.length,
    answers_in_tool: isOutputTool(request.tools, request.tool_choice),
    ...(request.max_tokens === 0 && { only_warms: true }),
  };
}

function readNewest(messages: readonly unknown[]): NewestTurn {
  const { start, end, continued } = findNewest(messages, isModel, plainText);
  const turn = emptyTurn(continued);
  const calls = new CallIndex(messages, start, collectCalls, readToolUse);
  const texts: string[] = [];
  for (let index = start; index < end; index++) {
    const message = asRecord(messages[index]);
    if (message?.role !== 'user') continue;
    collectTexts(message.content, readBlock, texts);
    collectDigests(message.content, readBlock, turn.attachment_digests);
    for (const value of asList(message.content)) {
      const block = asRecord(value);
      if (block?.type !== 'tool_result') continue;
      const text = resultTextOf(block.content, readBlock, turn.attachment_digests);
      const call = calls.find(asText(block.tool_use_id)) ?? null;
      const isSaid = typeof block.is_error === 'boolean';
      turn.tool_results.push({ call, text, failed: isSaid ? block.is_error === true : tellsFailure(text) });
    }
  }
  takeUserTexts(turn, texts, messages, start, isModel);
  return turn;
}

const isModel = (message: JsonRecord): boolean => message.role === 'assistant';

function plainText(message: JsonRecord): string | null {
  const blocks = asList(message.content);
  return blocks.every((block) => asRecord(block)?.type === 'text')
    ? textOf(message.content, readBlock)
    : null;
}

const collectCalls: CollectCalls = (message, add) => {
  if (!isModel(message)) return;
  for (const value of asList(message.content)) {
    const block = asRecord(value);
    if (block?.type === 'tool_use') add(asText(block.id), block);
  }
};
