/** Bodies of the command endpoints: unknown -> typed, or the names of the fields at fault. */
import type { z } from 'zod';
import {
  type Command,
  commandBodySchemas,
  describeIssues,
  type HitlCommand,
  LIMITS,
  repeatedNames,
} from '#contracts';
import { mayBeRounded } from '#kernel';

/** `new_content` given as an object, as JSON text. Larger inputs are not edited by hand. */
export const REWRITE_CHARS_MAX = 1_048_576;

export type ParsedCommand =
  | { readonly ok: true; readonly command: HitlCommand }
  /** `fields`: those at fault, missing ones first; `detail` is public. */
  | { readonly ok: false; readonly fields: string[]; readonly detail: string };

/** An absent body is an empty object; members that a command does not know are at fault. Never throws. */
export function parseCommandBody(command: Command, body: unknown): ParsedCommand {
  const given = body === undefined || body === null || body === '' ? {} : body;
  if (typeof given !== 'object' || Array.isArray(given)) {
    return {
      ok: false,
      fields: Object.keys(commandBodySchemas[command].shape),
      detail: 'expected a JSON object',
    };
  }
  const parsed = commandBodySchemas[command].safeParse(given);
  if (!parsed.success) {
    return { ok: false, ...faultsOf(given as Record<string, unknown>, parsed.error.issues) };
  }
  const content = parsed.data as { new_content?: unknown };
  if (content.new_content !== undefined && !isReasonable(content.new_content)) {
    return { ok: false, fields: ['new_content'], detail: UNREASONABLE };
  }
  // An agent must not act on another id than the one that its operator wrote.
  if (mayBeRounded(content.new_content)) return { ok: false, fields: ['new_content'], detail: ROUNDED };
  return { ok: true, command: { command, ...parsed.data } as HitlCommand };
}

function faultsOf(body: Record<string, unknown>, issues: readonly z.core.$ZodIssue[]) {
  const unknown = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? repeatedNames(issue.keys) : [],
  );
  const known = issues.filter(({ code }) => code !== 'unrecognized_keys');
  const isMissing = (issue: z.core.$ZodIssue) => (body[nameOf(issue)] ?? '') === '';
  const missing = known.filter(isMissing).map(nameOf);
  const invalid = known.filter((issue) => !isMissing(issue));
  const parts: string[] = [];
  if (missing.length > 0) {
    parts.push(`missing required ${missing.length === 1 ? 'field' : 'fields'}: ${missing.join(', ')}`);
  }
  if (invalid.length > 0) parts.push(describeIssues(invalid, body));
  if (unknown.length > 0) parts.push(`there is no such field: ${unknown.join(', ')}`);
  return { fields: [...missing, ...invalid.map(nameOf), ...unknown], detail: parts.join('; ') };
}

const nameOf = (issue: z.core.$ZodIssue): string => String(issue.path[0]);

/** Bounded in depth before anything recurses into it, and in size before it is stored with every directive. */
function isReasonable(content: unknown): boolean {
  return depthAtMost(content, LIMITS.jsonDepthMax) && JSON.stringify(content).length <= REWRITE_CHARS_MAX;
}

const UNREASONABLE = `invalid value for new_content: expected JSON of at most ${REWRITE_CHARS_MAX} characters, ${LIMITS.jsonDepthMax} levels deep`;
const ROUNDED =
  'new_content: send numbers beyond 2^53, such as ids of 64 bits, as text; their last digits are lost';

function depthAtMost(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== 'object') return true;
  if (levels === 0) return false;
  return Object.values(value).every((member) => depthAtMost(member, levels - 1));
}
