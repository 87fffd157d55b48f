/** A condition and the value of its `?`, or an array of the values of all that it has; a null or undefined leaves it out. */
export type Condition = readonly [sql: string, value: unknown];

/** @returns the conditions that are not left out, joined by AND, and their values in that order */
export function where(conditions: readonly Condition[]): { sql: string; values: unknown[] } {
  const bound = conditions.filter(([, value]) => value !== null && value !== undefined);
  return { sql: bound.map(([sql]) => sql).join(' AND '), values: bound.flatMap(([, value]) => value) };
}
