import { type ControlWord, controlWordSchema } from '#contracts';

/** Entries of the log, at once. */
export const READ_COUNT_MAX = 100;

/** A word as it stands in the log. */
export interface Said {
  /** The gateway that says it. */
  from: string;
  id: string;
  word: ControlWord;
}

export const writeSaid = ({ from, id, word }: Said): string => JSON.stringify({ from, id, ...word });

/** Null: of a gateway that says it otherwise, or no word at all. */
export function readSaid(text: string): Said | null {
  let json: { from?: unknown; id?: unknown } | null;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  const word = controlWordSchema.safeParse(json);
  return word.success && typeof json?.from === 'string' && typeof json.id === 'string'
    ? { from: json.from, id: json.id, word: word.data }
    : null;
}
