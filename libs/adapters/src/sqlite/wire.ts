/** Words that every part of the conversation with the store's threads uses. */

/** What a flat array of the hot path may hold. */
export type Primitive = string | number | null;

export interface PageKeys {
  limit: number;
  /** Keyset: rows strictly beyond this; null for the first page. */
  afterSeq: number | null;
  order: 'asc' | 'desc';
}
