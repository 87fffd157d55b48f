/** Reads `generateContent` and `streamGenerateContent`. */
import type { LlmRequest, LlmToolCall, LlmToolResult, NewestTurn } from '#contracts';
import { CallIndex, type CollectCalls } from '../call-index.js';
import { collectDigests, collectTexts, resultTextOf, textOf } from '../content-parts.js';
import { emptyTurn, findNewest, takeUserTexts } from '../newest-turn.js';
import { Opening } from '../opening.js';
import { asBound, asJsonText, asModel, asRecord, asText, type JsonRecord } from '../read-json.js';
import { saysFailure, tellsFailure } from '../tells-failure.js';
import { field, functionCallOf, functionResponseOf, listOf, readFunctionCall, readPart } from './fields.js';
import { readGeminiPath } from './path.js';

export function readGeminiRequest(body: unknown, path: string): LlmRequest {
  const request = asRecord(body) ?? {};
  const contents = listOf(request.contents);
  const system = field(request, 'systemInstruction', 'system_instruction');
  const config = asRecord(field(request, 'generationConfig', 'generation_config'));
  const each = asBound(field(config, 'maxOutputTokens', 'max_output_tokens'));
  const candidates = asBound(field(config, 'candidateCount', 'candidate_count')) ?? 1;
  const target = readGeminiPath(path);
  const opening = new Opening();
  for (const value of contents) if (isUser(value)) opening.addUser(asRecord(value)?.parts, readPart);
  return {
    model: asModel(target?.model) ?? asModel(request.model),
    stream: target?.stream ?? false,
    system_text: textOf(asRecord(system)?.parts ?? system, readPart),
    first_user_text: opening.firstUserText,
    newest: readNewest(contents),
    output_tokens_max: each === null ? null : asBound(each * candidates),
    choice_count: candidates,
    message_count: contents.length,
  };
}

const isModel = (content: JsonRecord): boolean => content.role === 'model';

/** A content may come without a role. */
function isUser(value: unknown): boolean {
  const content = asRecord(value);
  return content !== undefined && (content.role === 'user' || content.role === undefined);
}

function readNewest(contents: readonly unknown[]): NewestTurn {
  const { start, end, continued } = findNewest(contents, isModel, plainText);
  const turn = emptyTurn(continued);
  const answered = new AnsweredCalls(contents, start);
  const texts: string[] = [];
  for (let index = start; index < end; index++) {
    const content = asRecord(contents[index]);
    if (!content) continue;
    collectTexts(content.parts, readPart, texts);
    collectDigests(content.parts, readPart, turn.attachment_digests);
    for (const value of listOf(content.parts)) {
      const response = functionResponseOf(asRecord(value) ?? {});
      if (response) turn.tool_results.push(readResponse(response, answered, turn.attachment_digests));
    }
  }
  takeUserTexts(turn, texts, contents, start, isModel);
  return turn;
}

function plainText(content: JsonRecord): string | null {
  const parts = listOf(content.parts);
  return parts.every((part) => typeof asRecord(part)?.text === 'string') ? textOf(parts, readPart) : null;
}

function readResponse(response: JsonRecord, answered: AnsweredCalls, digests: string[]): LlmToolResult {
  const result = asRecord(response.response);
  const texts = [onlyText(result) ?? asJsonText(response.response)];
  if (response.parts !== undefined) texts.push(resultTextOf(response.parts, readPart, digests));
  const text = texts.join('\n');
  const isSaid = result?.error !== undefined && result.error !== null;
  return {
    call: answered.find(response),
    text,
    failed: isSaid || tellsFailure(text) || isFailedInside(result),
  };
}

/** A result is always an object; one that only wraps a text is that text. */
function onlyText(result: JsonRecord | undefined): string | undefined {
  const members = Object.values(result ?? {});
  return members.length === 1 && typeof members[0] === 'string' ? members[0] : undefined;
}

/** What a framework wraps into that object: a text beside the function's name, parts that hold a text, or an object of its own. */
function isFailedInside({ output, result, content }: JsonRecord = {}): boolean {
  const inside = output ?? result ?? content;
  return saysFailure(asRecord(inside)) || tellsFailure(textOf(inside, readPart));
}

/** By id where the client sends ids; else the first result of a name answers the first call of that name, and so on. */
class AnsweredCalls {
  readonly #byId: CallIndex;
  readonly #byName = new Map<string, JsonRecord[]>();

  constructor(contents: readonly unknown[], before: number) {
    this.#byId = new CallIndex(contents, before, collectCalls, readFunctionCall);
    let first = before;
    while (first > 0 && isModel(asRecord(contents[first - 1]) ?? {})) first -= 1;
    for (const content of contents.slice(first, before)) {
      for (const part of listOf(asRecord(content)?.parts)) this.#queue(functionCallOf(asRecord(part) ?? {}));
    }
    // Taken from the end, which costs nothing.
    for (const calls of this.#byName.values()) calls.reverse();
  }

  find(response: JsonRecord): LlmToolCall | null {
    const id = asText(response.id);
    const byId = id === '' ? undefined : this.#byId.find(id);
    return byId === undefined ? readFunctionCall(this.#byName.get(asText(response.name))?.pop()) : byId;
  }

  #queue(call: JsonRecord | undefined): void {
    if (!call) return;
    const name = asText(call.name);
    const calls = this.#byName.get(name);
    if (calls) calls.push(call);
    else this.#byName.set(name, [call]);
  }
}

const collectCalls: CollectCalls = (content, add) => {
  if (!isModel(content)) return;
  for (const part of listOf(content.parts)) {
    const call = functionCallOf(asRecord(part) ?? {});
    if (call) add(asText(call.id), call);
  }
};
