/**
 * The one way from "something arrived" to a DecisionLog. Says in words what is wrong with what it refuses, without
 * repeating the message: `missing required field: meta.trace_id`. Never throws, whatever it is given.
 */
import {
  type DecisionLog,
  decisionLogSchema,
  describeIssues,
  describeKind,
  joinPath,
  LIMITS,
} from '#contracts';
import { inspectJson, withoutUnsafeKeys } from './json-guard.js';

export interface ParsedLog {
  ok: true;
  log: DecisionLog;
  /** One line per member that was ignored, the first ten. */
  warnings: string[];
}

export interface RefusedLog {
  ok: false;
  /** Names the field and what is expected, and never quotes a value. */
  detail: string;
  /** What could be read of the sender's identity, null where it is absent or no text. */
  traceId: string | null;
  agentId: string | null;
  capabilityVersion: string | null;
}

const WARNING_COUNT_MAX = 10;

/** Section -> the members the schema knows. */
const KNOWN_MEMBERS = new Map<string, ReadonlySet<string>>(
  Object.entries(decisionLogSchema.shape).map(([section, schema]) => {
    const object = 'shape' in schema ? schema : schema.unwrap().unwrap();
    return [section, new Set(Object.keys(object.shape))];
  }),
);

/** Section -> its required members, in the schema's order. */
const REQUIRED_MEMBERS = new Map<string, string[]>();
for (const [section, schema] of Object.entries(decisionLogSchema.shape)) {
  if (!('shape' in schema)) continue;
  const required = Object.entries(schema.shape).filter(([, member]) => !member.safeParse(undefined).success);
  REQUIRED_MEMBERS.set(
    section,
    required.map(([name]) => name),
  );
}

/** Costs a few microseconds for an ordinary log; linear in the size of the message. */
export function parseDecisionLog(value: unknown): ParsedLog | RefusedLog {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuse(`expected a JSON object, got ${describeKind(value, 'object')}`, null);
  }
  const { defect, hasUnsafeKeys } = inspectJson(value);
  if (defect?.kind === 'too_deep') return refuse(`nesting deeper than ${LIMITS.jsonDepthMax}`, value);
  if (defect) {
    const where = defect.path === '' ? 'the message' : defect.path;
    const expected = typeof defect.value === 'number' ? 'a finite number' : 'a JSON value';
    const got = describeKind(defect.value, 'number');
    return refuse(`invalid value for ${where}: expected ${expected}, got ${got}`, value);
  }
  const cleaned = hasUnsafeKeys ? withoutUnsafeKeys(value, WARNING_COUNT_MAX) : { copy: value, removed: [] };
  const parsed = decisionLogSchema.safeParse(cleaned.copy);
  if (!parsed.success)
    return refuse(describeIssues(parsed.error.issues, cleaned.copy, REQUIRED_MEMBERS), cleaned.copy);
  return { ok: true, log: parsed.data, warnings: warningsFor(cleaned.copy, cleaned.removed) };
}

function warningsFor(message: object, removed: readonly string[]): string[] {
  const warnings: string[] = [];
  for (const path of removed) warn(warnings, path);
  for (const section in message) {
    const known = KNOWN_MEMBERS.get(section);
    if (known === undefined) warn(warnings, joinPath('', section));
    else {
      const members = (message as Record<string, object | null>)[section];
      for (const member in members) {
        if (!known.has(member)) warn(warnings, joinPath(section, member));
      }
    }
  }
  return warnings;
}

function warn(warnings: string[], path: string): void {
  if (warnings.length < WARNING_COUNT_MAX) warnings.push(`unknown field ignored: ${path}`);
}

function refuse(detail: string, message: object | null): RefusedLog {
  return {
    ok: false,
    detail,
    traceId: idAt(message, 'meta', 'trace_id'),
    agentId: idAt(message, 'identity', 'agent_id'),
    capabilityVersion: idAt(message, 'identity', 'capability_version'),
  };
}

/** A usable identifier at that place, else null. Own members only. */
function idAt(message: object | null, section: string, member: string): string | null {
  if (message === null || !Object.hasOwn(message, section)) return null;
  const object = (message as Record<string, unknown>)[section];
  if (typeof object !== 'object' || object === null || !Object.hasOwn(object, member)) return null;
  const id = (object as Record<string, unknown>)[member];
  return typeof id === 'string' && id.length > 0 && id.length <= LIMITS.idCharsMax ? id : null;
}
