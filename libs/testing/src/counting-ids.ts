/** Identifiers a test can foretell: `id-1`, `id-2`, ... */
import type { IdSource } from '#kernel';

/** A source of its own with each call, counting from 1. */
export function countingIds(): IdSource {
  let count = 0;
  return {
    next: () => {
      count += 1;
      return `id-${count}`;
    },
  };
}
