/**
 * Of what was typed over the fields of a form: that which was typed since it was `sent`. What is typed while a form saves
 * is not saved with it, and stays.
 */
export const withoutSent = <Edits extends object>(edits: Edits, sent: Edits): Edits =>
  Object.fromEntries(
    Object.entries(edits).filter(([field, typed]) => typed !== sent[field as keyof Edits]),
  ) as Edits;
