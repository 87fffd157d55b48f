/** What became of the thing in a dialog since that was opened. Pure. */

interface Meanwhile<Thing> {
  /** Null: a new one. */
  opened: Thing | null;
  /** As it was read last; undefined: not yet. */
  things: readonly Thing[] | undefined;
  isSame: (one: Thing, other: Thing) => boolean;
  /** What of it the dialog is about. */
  formOf: (thing: Thing) => unknown;
  /** "rule" */
  noun: string;
}

/** Null: nothing. */
export function meanwhileText<Thing extends object>({
  opened,
  things,
  isSame,
  formOf,
  noun,
}: Meanwhile<Thing>): string | null {
  if (opened === null || things === undefined) return null;
  const now = things.find((thing) => isSame(thing, opened));
  if (now === undefined) return `This ${noun} was deleted meanwhile: there is nothing left to save.`;
  if (JSON.stringify(formOf(now)) === JSON.stringify(formOf(opened))) return null;
  const whose = 'updated_by' in now ? ` by ${now.updated_by}` : '';
  return `This ${noun} was changed${whose} while this form was open. What you change here is saved, the rest stays as it is now. Open it again to see that.`;
}
