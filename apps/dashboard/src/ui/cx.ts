/** Joins class names; falsy parts are left out. Later utilities do not override earlier ones: keep them disjoint. */
export function cx(...parts: (string | false | null | undefined)[]): string {
  return parts.filter(Boolean).join(' ');
}
