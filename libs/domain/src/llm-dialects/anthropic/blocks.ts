/** Content blocks of the Messages API. */
import type { LlmToolCall } from '#contracts';
import { firstText, type PartReading, textOf } from '../content-parts.js';
import { asJsonText, asName, asRecord, asText, type JsonRecord } from '../read-json.js';

export function readBlock(block: JsonRecord): PartReading {
  switch (block.type) {
    case 'text':
      return { text: asText(block.text) };
    case 'image':
    case 'document':
      return { attachment: sourceOf(block.source) };
    case 'search_result':
      return { text: textOf(block.content, readText) };
    case 'container_upload':
      return { attachment: firstText(block.file_id) };
    default:
      return {};
  }
}

const readText = (block: JsonRecord): PartReading =>
  block.type === 'text' ? { text: asText(block.text) } : {};

function sourceOf(value: unknown): string | undefined {
  const source = asRecord(value);
  if (!source) return undefined;
  return firstText(source.data, source.url, source.file_id) ?? asJsonText(source.content);
}

/** A call that the client has to answer; null for any other block, `server_tool_use` among them. */
export function readToolUse(block: JsonRecord | undefined): LlmToolCall | null {
  const name = block?.type === 'tool_use' ? asName(block.name) : null;
  return !block || name === null ? null : { id: asName(block.id), name, arguments: asJsonText(block.input) };
}
