/**
 * What must hold of a message before anything looks at its fields: it is made of what JSON can say, not nested
 * beyond the limit, and carries no key that could reach a prototype. Level by level, so depth costs memory and not
 * stack; one pass over every value, about half a microsecond for an ordinary log.
 */
import { joinPath, LIMITS } from '#contracts';

export type JsonDefect =
  | { kind: 'too_deep' }
  /** NaN, Infinity, a buffer, a function: a socket can carry what a JSON text cannot. */
  | { kind: 'not_json'; path: string; value: unknown };

export interface JsonInspection {
  defect: JsonDefect | null;
  /** True when `withoutUnsafeKeys` has something to remove. */
  hasUnsafeKeys: boolean;
}

/** It reaches an object's prototype. */
export const isUnsafeKey = (key: string): boolean =>
  key === '__proto__' || key === 'constructor' || key === 'prototype';

/** Never throws, also for cyclic values: they are too deep. */
export function inspectJson(root: object): JsonInspection {
  let hasUnsafeKeys = false;
  let level: object[] = [root];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > LIMITS.jsonDepthMax) return { defect: { kind: 'too_deep' }, hasUnsafeKeys };
    const next: object[] = [];
    for (const value of level) {
      if (!isPlain(value)) return { defect: locateForeign(root), hasUnsafeKeys };
      if (Array.isArray(value)) {
        for (const member of value) {
          if (!isJsonScalar(member)) next.push(member);
        }
        continue;
      }
      for (const key in value) {
        if (isUnsafeKey(key)) hasUnsafeKeys = true;
        const member = (value as Record<string, unknown>)[key];
        if (!isJsonScalar(member)) next.push(member as object);
      }
    }
    level = next;
  }
  return { defect: null, hasUnsafeKeys };
}

/** The same walk once more, for a message that is refused: only that one pays for knowing where. */
function locateForeign(root: object): JsonDefect {
  let level: { value: unknown; path: string }[] = [{ value: root, path: '' }];
  for (let depth = 1; depth <= LIMITS.jsonDepthMax; depth += 1) {
    const next: typeof level = [];
    for (const { value, path } of level) {
      if (!isPlain(value)) return { kind: 'not_json', path, value };
      const isArray = Array.isArray(value);
      for (const [key, member] of Object.entries(value)) {
        if (!isJsonScalar(member))
          next.push({ value: member, path: joinPath(path, isArray ? Number(key) : key) });
      }
    }
    level = next;
  }
  return { kind: 'too_deep' };
}

/** `undefined` passes: it means absent, as JSON.stringify has it. */
function isJsonScalar(value: unknown): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null || value === undefined)
    return true;
  return typeof value === 'number' && Number.isFinite(value);
}

/** An array, or an object as a literal makes it: neither a number out of range nor a buffer nor a function. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** An object or array that is copied, and where it stands. */
interface Copied {
  from: object;
  to: Record<string, unknown>;
  within: Copied | null;
  key: string;
}

/**
 * A copy without the keys `__proto__`, `constructor` and `prototype`, at any depth. For messages that have such
 * keys; expects a value that `inspectJson` found no defect in.
 *
 * @returns the copy and the paths of what was left out, the first `pathsMax` of them
 */
export function withoutUnsafeKeys(root: object, pathsMax: number): { copy: object; removed: string[] } {
  const removed: string[] = [];
  const shellOf = (value: object): object => (Array.isArray(value) ? [] : {});
  const copy = shellOf(root);
  const open: Copied[] = [{ from: root, to: copy as Record<string, unknown>, within: null, key: '' }];
  for (let entry = open.pop(); entry; entry = open.pop()) {
    for (const key of Object.keys(entry.from)) {
      const member = (entry.from as Record<string, unknown>)[key];
      if (isUnsafeKey(key)) {
        if (removed.length < pathsMax) removed.push(pathOf(entry, key));
      } else if (typeof member !== 'object' || member === null) entry.to[key] = member;
      else {
        const shell = shellOf(member) as Record<string, unknown>;
        entry.to[key] = shell;
        open.push({ from: member, to: shell, within: entry, key });
      }
    }
  }
  return { copy, removed };
}

/** Put together for the few that are told: every value has one. */
function pathOf({ from, within, key }: Copied, member: string): string {
  const path = within === null ? '' : pathOf(within, key);
  return joinPath(path, Array.isArray(from) ? Number(member) : member);
}
