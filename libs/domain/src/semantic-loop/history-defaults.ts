/** @see seed 000, section 6: LOOP_HISTORY_SIZE and LOOP_EMBEDDING_TTL */

/** Prompts remembered for each tenant and session. */
export const HISTORY_COUNT_MAX = 5;
/** Counted from when a prompt was recorded, for each prompt by itself. */
export const HISTORY_TTL_MS = 3_600_000;
