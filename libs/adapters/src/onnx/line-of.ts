/** First line of a runtime's message, bounded. It names nodes and shapes, never a text. */
export const lineOf = (error: unknown): string =>
  ((error instanceof Error ? error.message : String(error)).split('\n')[0] as string).slice(0, 300);
