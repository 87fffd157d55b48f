/** Items of the Responses API: what a client may send and what the model may answer, in one list. */
import type { LlmToolCall } from '#contracts';
import { firstText, type PartReading } from '../content-parts.js';
import { asJsonText, asList, asName, asRecord, asText, type JsonRecord } from '../read-json.js';

export function readResponsesPart(part: JsonRecord): PartReading {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { text: asText(part.text) };
    case 'refusal':
      return { text: asText(part.refusal) };
    case 'input_image':
    case 'computer_screenshot':
      return { attachment: firstText(part.image_url, part.file_id) };
    case 'input_file':
      return { attachment: firstText(part.file_data, part.file_url, part.file_id) };
    case 'input_audio': {
      return { attachment: firstText(asRecord(part.input_audio)?.data) };
    }
    default:
      return {};
  }
}

/** A message may come without a type. */
export const isMessage = (item: JsonRecord): boolean =>
  item.type === 'message' || (item.type === undefined && item.role !== undefined);

/** Said by the model, or brought back on its behalf (references, reasoning, what tools of the vendor's did). */
export const isModelItem = (item: JsonRecord): boolean =>
  isMessage(item) ? item.role === 'assistant' : !isResultItem(item) && !CLIENT_ITEMS.has(asText(item.type));

/** The result of a tool that the client ran: `function_call_output`, `custom_tool_call_output`, ... */
export const isResultItem = (item: JsonRecord): boolean => asText(item.type).endsWith('_output');

const CLIENT_ITEMS = new Set([
  ...['', 'mcp_approval_response', 'additional_tools', 'compaction_trigger', 'configuration_update'],
]);

/** A web search that the vendor ran, and charges for. Opening a page that was found, or looking for words in it, is none. */
export function isSearchItem(item: JsonRecord | undefined): boolean {
  if (item?.type !== 'web_search_call' || item.status === 'failed') return false;
  const { type = 'search' } = asRecord(item.action) ?? {};
  return type === 'search';
}

/** A search in the files that were stored at the vendor's. */
export const isFileSearchItem = (item: JsonRecord | undefined): boolean =>
  item?.type === 'file_search_call' && item.status === 'completed';

/** A response repeats the tools that it was given: whether it searches with the older one, at a price of its own. */
export const hasPreviewSearch = (response: JsonRecord): boolean =>
  asList(response.tools).some((tool) => asText(asRecord(tool)?.type).startsWith('web_search_preview'));

/** Tools that the client runs without a function of its own, and the member that says what to do. */
const CLIENT_TOOLS = new Map([
  ['computer_call', 'action'],
  ['local_shell_call', 'action'],
  ['shell_call', 'action'],
  ['apply_patch_call', 'operation'],
  ['tool_search_call', 'arguments'],
]);

/** Of those that may run at either side: the vendor's own shell has a container there, its search says that it is the server's. */
function runsAtVendor({ type, execution, environment }: JsonRecord): boolean {
  if (type === 'tool_search_call') return execution !== 'client';
  return type === 'shell_call' && asRecord(environment)?.type === 'container_reference';
}

/**
 * A call that the client has to answer; null for any other item. What runs at the vendor's (web search, code
 * interpreter, remote MCP) brings no result in a later request and is not a call in this sense.
 */
export function readCallItem(item: JsonRecord | undefined): LlmToolCall | null {
  if (!item) return null;
  const type = asText(item.type);
  if (type === 'function_call' || type === 'custom_tool_call') {
    const name = asName(item.name);
    if (name === null) return null;
    return { id: asName(item.call_id), name, arguments: asJsonText(item.arguments ?? item.input) };
  }
  const member = CLIENT_TOOLS.get(type);
  if (member === undefined || runsAtVendor(item)) return null;
  return {
    id: asName(item.call_id) ?? asName(item.id),
    name: type.slice(0, -'_call'.length),
    arguments: asJsonText(item[member] ?? item.actions),
  };
}
