/** Credentials out of HTTP headers. All functions never throw. */
import { displayNameSchema, KILL_SWITCH_ACTOR, LIMITS, SYSTEM_OPERATOR } from '#contracts';

const BEARER = /^bearer +/i;

/** The token of `Bearer <token>`; undefined for other schemes, an empty or an oversized one. */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const scheme = BEARER.exec(authorization);
  if (scheme === null) return undefined;
  const token = authorization.slice(scheme[0].length).trimEnd();
  return token.length > 0 && token.length <= LIMITS.idCharsMax ? token : undefined;
}

/** First cookie of this name; undefined if there is none or it is oversized. */
export function cookieValue(cookieHeader: string | undefined, name: string): string | undefined {
  if (cookieHeader === undefined) return undefined;
  for (const pair of cookieHeader.split(';')) {
    const equals = pair.indexOf('=');
    if (equals === -1 || pair.slice(0, equals).trim() !== name) continue;
    const value = pair.slice(equals + 1).trim();
    return value.length > 0 && value.length <= LIMITS.idCharsMax ? value : undefined;
  }
  return undefined;
}

const RESERVED: ReadonlySet<string> = new Set([SYSTEM_OPERATOR, KILL_SWITCH_ACTOR]);

/**
 * An operator id fit for the audit, trimmed; null if it is no display name, or poses as the gateway itself or its kill switch,
 * which sign what they do.
 */
export function parseOperatorId(text: string): string | null {
  const parsed = displayNameSchema.safeParse(text);
  if (!parsed.success) return null;
  return RESERVED.has(asSeen(parsed.data)) ? null : parsed.data;
}

/** What leaves no mark: format characters, variation selectors, fillers, and the blank of Braille. */
const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** In one spelling of each letter, without case and without what nobody sees. */
const asSeen = (name: string): string => name.normalize('NFKC').replaceAll(UNSEEN, '').trim().toLowerCase();

/**
 * The text of a header. Node reads header bytes as Latin-1, while clients send UTF-8: where the bytes are valid UTF-8
 * they are read as such, so that an id is spelled as it is in a body or a path.
 */
export function textOfHeader(header: string): string {
  if (!/[\x80-\xff]/.test(header)) return header;
  const utf8 = Buffer.from(header, 'latin1').toString('utf8');
  return utf8.includes('\uFFFD') ? header : utf8;
}

/** The operator id of a header, so that the audit spells `Zoë` right. */
export const parseOperatorIdHeader = (header: string | undefined): string | null =>
  header === undefined ? null : parseOperatorId(textOfHeader(header));
