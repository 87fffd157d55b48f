/**
 * Images and files that a request names by an address: the vendor fetches them with each call, and finds what lies there
 * then. What is inside the request, or was given to the vendor before and is named by an id, stays what it is. Texts and
 * the arguments of calls are not read: no vendor fetches what they mention. And tools that a vendor runs in the middle of
 * a chat: what they found, or what time it was, need not be told apart in the answer.
 */
import type { CanonicalMessage, CanonicalRequest } from '#contracts';
import { isObject } from './fields-left.js';

/** A file inside a document inside a tool's result lies eight deep. */
const DEPTH_MAX = 10;
/** Parts and items that hold text, or what models and tools said in words of their own. */
const WORD_TYPES = new Set<unknown>([
  ...['text', 'input_text', 'output_text', 'refusal', 'thinking', 'redacted_thinking', 'reasoning'],
  ...['tool_use', 'server_tool_use', 'function_call', 'custom_tool_call'],
]);
/** The same of Gemini, whose parts have no type: arguments and results of functions. */
const WORD_MEMBERS = new Set(['args', 'response']);
/** The second line is Mistral's and Qwen's, who take addresses where others have the content itself. */
const ADDRESS_MEMBERS = new Set([
  ...['image_url', 'video_url', 'audio_url', 'file_url', 'file_data', 'fileUri', 'file_uri'],
  ...['document_url', 'input_audio', 'video'],
  // Of Google's interactions.
  'uri',
]);
/** Of a chat, the caller's own; one without a type is a function. The other dialects tell what a vendor ran. */
const CALLERS_TOOLS = new Set<unknown>([undefined, 'function', 'custom']);
const SCHEME = /^\s{0,8}([a-z][a-z0-9+.-]{0,31}):/i;
/** What was uploaded there never changes. */
const GEMINI_FILE = /^https:\/\/generativelanguage\.googleapis\.com\/[^?#]*\bfiles\//;

/** Reads no text and no content, only where they could be addresses. */
export const readsRemoteContent = ({
  dialect,
  system,
  messages,
  tools,
}: Pick<CanonicalRequest, 'dialect' | 'system' | 'messages' | 'tools'>): boolean =>
  (dialect === 'openai-chat' && hasVendorsTool(tools?.value)) ||
  system.some(isRemote) ||
  messages.some(isRemote);

const hasVendorsTool = (tools: unknown): boolean =>
  Array.isArray(tools) && tools.some((tool) => isObject(tool) && !CALLERS_TOOLS.has(tool.type));

const isRemote = ({ parts }: CanonicalMessage): boolean =>
  parts.some((part) => typeof part !== 'string' && holdsAddress(part.value, 0));

function holdsAddress(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return false;
  if (Array.isArray(value)) return value.some((member) => holdsAddress(member, depth + 1));
  const record = value as Readonly<Record<string, unknown>>;
  if (WORD_TYPES.has(record.type)) return false;
  // As Anthropic has its sources.
  if (record.type === 'url') return isAddress(record.url);
  for (const name in record) {
    const member = record[name];
    if (ADDRESS_MEMBERS.has(name) && isAddress(member)) return true;
    if (typeof member === 'object' && !WORD_MEMBERS.has(name) && holdsAddress(member, depth + 1)) return true;
  }
  return false;
}

/** Base64 has no colon; `data:` is the content itself. */
function isAddress(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((one) => typeof one === 'string' && isAddress(one));
  if (typeof value !== 'string') {
    const inner = isObject(value) ? (value.url ?? value.data) : undefined;
    return typeof inner === 'string' && isAddress(inner);
  }
  const scheme = SCHEME.exec(value)?.[1];
  return scheme !== undefined && scheme.toLowerCase() !== 'data' && !GEMINI_FILE.test(value);
}
