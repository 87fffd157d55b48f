/**
 * Pictures and recordings inside a request, of all dialects alike: a screenshot takes a thousand tokens or two, and its base64 a
 * hundred times the bytes of so much text. Documents are left out: what a page of one takes is about what its bytes say.
 */
import { asRecord, asText, type JsonRecord } from './read-json.js';

/** Of text; as limits estimate it. */
const BYTES_PER_TOKEN = 4;
/** About the most that a vendor takes for one at its usual detail. */
const PICTURE_TOKENS = 2_000;
/** Recordings and films: speech at a low rate, where vendors take up to 32 tokens a second. */
const SOUND_BYTES_PER_TOKEN = 64;
/** A part of a tool's result in a message lies three deep. */
const DEPTH_MAX = 6;

/** `data:image/png;base64,...`, as OpenAI and those who speak its API take one. */
const DATA_URL = /^data:(image|audio|video)\//i;
const MEDIA_TYPE = /^(image|audio|video)\//i;

/**
 * By how many bytes a request is longer than text that would take as many tokens. Looks only where its messages have parts, and reads
 * no content: a long conversation costs a hundredth of what it took to parse.
 *
 * @param body as parsed
 */
export function mediaExcessBytes(body: unknown): number {
  const { messages, contents, input } = asRecord(body) ?? {};
  return inParts(messages ?? contents ?? input, 0);
}

/** @param parts a list of messages, items or parts, or one */
function inParts(parts: unknown, depth: number): number {
  if (typeof parts !== 'object' || parts === null || depth > DEPTH_MAX) return 0;
  if (!Array.isArray(parts)) return inPart(parts as JsonRecord, depth);
  let bytes = 0;
  for (const part of parts) if (typeof part === 'object' && part !== null) bytes += inPart(part, depth);
  return bytes;
}

function inPart(part: JsonRecord, depth: number): number {
  if (part.type === 'text' || typeof part.content === 'string') return 0;
  const within = part.content ?? part.parts ?? part.output ?? part.result;
  return within === undefined ? excessOf(part) : inParts(within, depth + 1);
}

function excessOf(part: JsonRecord): number {
  for (const name of HOLDERS) {
    const value = part[name];
    if (typeof value === 'string') return excessOfUrl(value);
    const held = asRecord(value);
    if (held !== undefined) return excessOfUrl(asText(held.url)) || excessOfData(held);
  }
  // Of Google's interactions, which hold nothing around it.
  if (typeof part.data === 'string') return excessOfData(part);
  return inParts(asRecord(part.functionResponse ?? part.function_response)?.parts, DEPTH_MAX);
}

/** OpenAI's, Anthropic's and Google's. */
const HOLDERS = [
  ...['image_url', 'input_audio', 'video_url', 'audio_url'],
  ...['source', 'inlineData', 'inline_data'],
];

const excessOfUrl = (url: string): number => excessOfKind(DATA_URL.exec(url)?.[1], url.length);

/** What is said of it beside: a type; or by OpenAI a format, which only recordings have. */
function excessOfData({ data, media_type, mimeType, mime_type, format }: JsonRecord): number {
  const type = asText(media_type) || asText(mimeType) || asText(mime_type);
  const kind = MEDIA_TYPE.exec(type)?.[1] ?? (typeof format === 'string' ? 'audio' : undefined);
  return excessOfKind(kind, asText(data).length);
}

function excessOfKind(kind: string | undefined, byteCount: number): number {
  if (kind === undefined) return 0;
  const tokens = kind.toLowerCase() === 'image' ? PICTURE_TOKENS : byteCount / SOUND_BYTES_PER_TOKEN;
  return Math.max(0, byteCount - Math.ceil(tokens) * BYTES_PER_TOKEN);
}
