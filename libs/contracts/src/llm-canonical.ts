/**
 * A request in no vendor's vocabulary: all of it that can change the answer, and nothing that cannot. What vendors mean
 * alike is spelled alike; everything else stays whole under its vendor's name. Values are the request's own, never
 * copies in depth: not for writing to.
 */
import type { DialectName } from './llm-call.js';

/** Kept as it came: a part, a field or a message that only this vendor's API gives a meaning to. */
export interface VendorValue {
  vendor: DialectName;
  value: unknown;
}

/** A string is plain text and nothing but text. */
export type CanonicalPart = string | VendorValue;

export interface CanonicalMessage {
  /** As the vendor names it; null for what is no message (items of the Responses API, odd input). */
  role: string | null;
  parts: readonly CanonicalPart[];
  /** Every other member of the message: tool calls, names, ids. */
  extra: VendorValue | null;
}

export interface CanonicalRequest {
  /** Where it came from. Not part of the key: equal requests are equal in any dialect. */
  dialect: DialectName;
  model: string | null;
  /** What the vendor takes as its system prompt, and the system messages a conversation begins with. */
  system: readonly CanonicalMessage[];
  messages: readonly CanonicalMessage[];
  /** Null: the vendor's default, which is not 0. */
  temperature: number | null;
  tools: VendorValue | null;
  tool_choice: string | VendorValue | null;
  max_tokens: number | null;
  /** All other fields, whole: `top_p`, `seed`, `stop` where vendors agree, else `<dialect>.<field>`. */
  rest: Readonly<Record<string, unknown>>;
}
