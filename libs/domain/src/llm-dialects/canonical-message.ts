/** Messages in no vendor's vocabulary: text as text, everything else whole. */
import type { CanonicalMessage, CanonicalPart, DialectName } from '#contracts';
import { isObject } from './fields-left.js';
import type { JsonRecord } from './read-json.js';

export interface MessageShape {
  vendor: DialectName;
  /** Member that holds the content. */
  content: 'content' | 'parts';
  /** Of a message without one; undefined: then it is no message. */
  defaultRole?: string;
  /** The text of a part that holds nothing else; undefined for any other part. */
  plainText: (part: JsonRecord) => string | undefined;
  /** Members that say nothing, such as the id of the model's own message. */
  isOmitted?: (name: string, message: JsonRecord) => boolean;
}

/** A string and one text part of the same text are the same. */
export function canonicalMessage(value: unknown, shape: MessageShape): CanonicalMessage {
  if (!isObject(value)) return wholeItem(value, shape.vendor);
  const role = value.role === undefined ? shape.defaultRole : value.role;
  if (typeof role !== 'string') return wholeItem(value, shape.vendor);
  const content = value[shape.content];
  // Any other content stays in `extra`, so that it is told from a list that holds the same.
  const hasParts = typeof content === 'string' || (Array.isArray(content) && content.length > 0);
  let extra: JsonRecord | null = null;
  for (const name of Object.keys(value)) {
    if (name === 'role' || (hasParts && name === shape.content) || shape.isOmitted?.(name, value)) continue;
    extra ??= {};
    // Written plainly, this one name would be lost.
    if (name === '__proto__') Object.defineProperty(extra, name, { value: value[name], enumerable: true });
    else extra[name] = value[name];
  }
  return {
    role,
    parts: canonicalParts(content, shape),
    extra: extra === null ? null : { vendor: shape.vendor, value: extra },
  };
}

/** What is no message, whole. */
export const wholeItem = (value: unknown, vendor: DialectName): CanonicalMessage => ({
  role: null,
  parts: [{ vendor, value }],
  extra: null,
});

function canonicalParts(
  content: unknown,
  { vendor, plainText }: Pick<MessageShape, 'vendor' | 'plainText'>,
): CanonicalPart[] {
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return isObject(content) ? [{ vendor, value: content }] : [];
  return content.map((part) => (isObject(part) ? plainText(part) : undefined) ?? { vendor, value: part });
}

/** Whether the record has no members but these. */
export function hasOnly(record: JsonRecord, ...names: string[]): boolean {
  for (const name in record) if (!names.includes(name)) return false;
  return true;
}

/** How many messages at the beginning are of one of these roles. */
export function countLeading(messages: readonly CanonicalMessage[], roles: readonly string[]): number {
  const end = messages.findIndex(({ role }) => role === null || !roles.includes(role));
  return end === -1 ? messages.length : end;
}
