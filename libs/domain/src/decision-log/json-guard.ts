/**
 * What must hold of a message before anything looks at its fields: it is made of what JSON can say, not nested
 * beyond the limit, and carries no key that could reach a prototype. Level by level, so depth costs memory and not
 * stack; one pass over every value, about half a microsecond for an ordinary log.
 */
import { LIMITS } from '#contracts';

export type JsonDefect =
  | { kind: 'too_deep' }
  /** NaN, Infinity, a buffer, a function: a socket can carry what a JSON text cannot. */
  | { kind: 'not_json'; path: string; value: unknown };

export interface JsonInspection {
  defect: JsonDefect | null;
  /** True when `withoutUnsafeKeys` has something to remove. */
  hasUnsafeKeys: boolean;
}

interface Level {
  value: object;
  /** Undefined on the hot path, which names nothing. */
  path: string | undefined;
}

const isUnsafeKey = (key: string): boolean =>
  key === '__proto__' || key === 'constructor' || key === 'prototype';

/** Never throws, also for cyclic values: they are too deep. */
export function inspectJson(root: object): JsonInspection {
  const found = walk(root, false);
  // Only a message that is refused pays for knowing where.
  return found.defect?.kind === 'not_json' ? walk(root, true) : found;
}

function walk(root: object, isNamed: boolean): JsonInspection {
  let hasUnsafeKeys = false;
  let level: Level[] = [{ value: root, path: isNamed ? '' : undefined }];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > LIMITS.jsonDepthMax) return { defect: { kind: 'too_deep' }, hasUnsafeKeys };
    const next: Level[] = [];
    for (const { value, path } of level) {
      if (!isPlain(value)) return { defect: { kind: 'not_json', path: path ?? '', value }, hasUnsafeKeys };
      const isArray = Array.isArray(value);
      for (const key in value) {
        if (!isArray && isUnsafeKey(key)) hasUnsafeKeys = true;
        const member = (value as Record<string, unknown>)[key];
        if (typeof member === 'string' || typeof member === 'boolean' || member === null) continue;
        const memberPath = path === undefined ? undefined : joinPath(path, isArray ? Number(key) : key);
        if (typeof member === 'object') next.push({ value: member, path: memberPath });
        else if (!isJsonScalar(member)) {
          return { defect: { kind: 'not_json', path: memberPath ?? '', value: member }, hasUnsafeKeys };
        }
      }
    }
    level = next;
  }
  return { defect: null, hasUnsafeKeys };
}

/** `undefined` passes: it means absent, as JSON.stringify has it. */
const isJsonScalar = (value: unknown): boolean =>
  value === undefined || (typeof value === 'number' && Number.isFinite(value));

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** `action.tool_input`, `cognition.reasoning_chain[3]`; keys a stranger made up are cut short. */
export function joinPath(path: string, part: PropertyKey): string {
  if (typeof part === 'number') return `${path}[${part}]`;
  const key = String(part);
  const shown = key.length > 80 ? `${key.slice(0, 80)}...` : key;
  return path === '' ? shown : `${path}.${shown}`;
}

/**
 * A copy without the keys `__proto__`, `constructor` and `prototype`, at any depth. For messages that have such
 * keys; expects a value that `inspectJson` found no defect in.
 *
 * @returns the copy and the paths of what was left out
 */
export function withoutUnsafeKeys(root: object): { copy: object; removed: string[] } {
  const removed: string[] = [];
  const shellOf = (value: object): object => (Array.isArray(value) ? [] : {});
  const copy = shellOf(root);
  const open: { from: object; to: Record<string, unknown>; path: string }[] = [
    { from: root, to: copy as Record<string, unknown>, path: '' },
  ];
  for (let entry = open.pop(); entry; entry = open.pop()) {
    const isArray = Array.isArray(entry.from);
    for (const [key, member] of Object.entries(entry.from)) {
      const path = joinPath(entry.path, isArray ? Number(key) : key);
      if (!isArray && isUnsafeKey(key)) removed.push(path);
      else if (typeof member !== 'object' || member === null) entry.to[key] = member;
      else {
        const shell = shellOf(member);
        entry.to[key] = shell;
        open.push({ from: member, to: shell as Record<string, unknown>, path });
      }
    }
  }
  return { copy, removed };
}
