/** One list of words in one order for all gateways that share a store; a word that was read by all of them may leave it. */
export interface ControlLogEntry {
  /** Where to go on reading. */
  cursor: string;
  text: string;
  /** Since it was appended, by the shared store's clock, which is nobody's here. */
  ageMs: number;
}

export interface ControlLogPart {
  /** Oldest first. */
  entries: ControlLogEntry[];
  /** The entry of the cursor is gone, and with it maybe others that nobody has read here. */
  isBroken: boolean;
}

export interface ControlLog {
  /** At the end. Rejects where the shared store does not answer: the word may be there all the same. */
  append(text: string): Promise<void>;
  /**
   * @param cursor of the last entry that was read; null: from the oldest on. One that lies beyond the end is of another life of
   *   the list, which is read from its beginning then
   * @returns at most `countMax`. Rejects where the shared store does not answer
   */
  readAfter(cursor: string | null, countMax: number): Promise<ControlLogPart>;
}
