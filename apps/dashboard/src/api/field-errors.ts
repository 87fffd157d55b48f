/** A refusal of the gateway, taken apart: what it says about each field, for the place where the field is. */
import { ApiError } from './client';

/** Path of a field, such as `allowed_hours.from`, to one sentence. */
export type FieldProblems = Readonly<Record<string, string>>;

export interface Refusal {
  fields: FieldProblems;
  /** What no field can show; null when the fields say it all. */
  general: string | null;
}

const NO_REFUSAL: Refusal = { fields: {}, general: null };

/**
 * The gateway's detail holds one sentence per field, each led by the field's path; a field without one gets the whole
 * detail. Pure; never throws.
 *
 * @param knows whether the form has a place for this path
 */
export function toRefusal(error: unknown, knows: (path: string) => boolean): Refusal {
  if (error === null || error === undefined) return NO_REFUSAL;
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof ApiError)) return { fields: {}, general: message };
  const placed = error.fields.filter(knows);
  const fields = Object.fromEntries(placed.map((path) => [path, sentenceAbout(path, error)]));
  const isComplete = error.fields.length > 0 && placed.length === error.fields.length;
  return { fields, general: isComplete ? null : message };
}

function sentenceAbout(path: string, { message, fields }: ApiError): string {
  const starts = fields
    .map((field) => ({ field, at: startOf(field, message) }))
    .filter(({ at }) => at !== -1)
    .sort((a, b) => a.at - b.at);
  const index = starts.findIndex(({ field }) => field === path);
  const own = starts[index];
  if (!own) return message;
  const end = starts[index + 1]?.at ?? message.length;
  const text = message
    .slice(own.at + path.length + 2, end)
    .trim()
    .replace(/\.+$/, '');
  const plain = inPlainWords(text);
  return `${plain.charAt(0).toUpperCase()}${plain.slice(1)}.`;
}

/**
 * "must be at most 600000" is of the wire; people read "at most 10" of a field in minutes. Any other sentence is as it was.
 *
 * @param scale one of the form's unit in the wire's
 */
export const inPlainWords = (sentence: string, scale = 1): string =>
  sentence.replace(
    /^must (?:be|have) (at least|at most|more than|less than) (-?[\d.]+)(?= \w+$|$)/,
    (_, bound: string, value: string) => `${bound} ${Math.round((Number(value) / scale) * 10_000) / 10_000}`,
  );

/** Where the sentence led by this path begins. */
function startOf(path: string, message: string): number {
  if (message.startsWith(`${path}: `)) return 0;
  const at = message.indexOf(`. ${path}: `);
  return at === -1 ? -1 : at + 2;
}
