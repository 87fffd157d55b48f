/**
 * Message content as every vendor has it: a string, or a list of parts of which some are text, some attachments and
 * some neither. How a vendor spells a part is its dialect's business; what is made of them is written here once.
 */
import { attachmentDigest } from './attachment-digest.js';
import { asJsonText, asRecord, type JsonRecord } from './read-json.js';

/** Neither member: a part we do not know. `attachment` is a URL, an id or base64 content. */
export interface PartReading {
  text?: string;
  attachment?: string;
}

export type ReadPart = (part: JsonRecord) => PartReading;

/** Text parts joined by `separator`; other parts left out. */
export const textOf = (content: unknown, readPart: ReadPart, separator = '\n'): string =>
  typeof content === 'string' ? content : collectTexts(content, readPart, []).join(separator);

/** Appends the text parts in `content` with anything in them, one by one: there may be more than a call takes arguments. */
export function collectTexts(content: unknown, readPart: ReadPart, texts: string[]): readonly string[] {
  if (typeof content === 'string') {
    if (content !== '') texts.push(content);
    return texts;
  }
  for (const part of partsOf(content)) {
    const text = typeof part === 'string' ? part : readPart(part).text;
    if (text !== undefined && text !== '') texts.push(text);
  }
  return texts;
}

/** Appends the digests of the attachments in `content`. */
export function collectDigests(content: unknown, readPart: ReadPart, digests: string[]): void {
  if (typeof content === 'string') return;
  for (const part of partsOf(content)) {
    const attachment = typeof part === 'string' ? undefined : readPart(part).attachment;
    if (attachment !== undefined && attachment !== '') digests.push(attachmentDigest(attachment));
  }
}

/**
 * A tool's result as text, lossless enough to tell two results apart: text parts as they are, an attachment as
 * `{"attachment":"<digest>"}`, anything else as its JSON text. The digests are appended to `digests` too.
 */
export function resultTextOf(content: unknown, readPart: ReadPart, digests: string[]): string {
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  const single = asRecord(content);
  if (!Array.isArray(content) && single === undefined) return asJsonText(content);
  const texts: string[] = [];
  for (const part of Array.isArray(content) ? content : [single]) {
    const record = asRecord(part);
    const { text, attachment } = record ? readPart(record) : {};
    if (text !== undefined) texts.push(text);
    else if (attachment !== undefined && attachment !== '') {
      const digest = attachmentDigest(attachment);
      digests.push(digest);
      texts.push(`{"attachment":"${digest}"}`);
    } else texts.push(asJsonText(part));
  }
  return texts.join('\n');
}

function* partsOf(content: unknown): Generator<string | JsonRecord> {
  if (Array.isArray(content)) {
    for (const part of content) {
      const record = typeof part === 'string' ? part : asRecord(part);
      if (record !== undefined) yield record;
    }
    return;
  }
  const single = asRecord(content);
  if (single !== undefined) yield single;
}

/** The first of the values that is a string with something in it. */
export const firstText = (...values: unknown[]): string | undefined =>
  values.find((value): value is string => typeof value === 'string' && value !== '');
