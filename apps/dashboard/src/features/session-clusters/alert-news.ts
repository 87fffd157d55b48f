/** Which alerts are news to somebody who does not look at the page: each once, and of a session that alerts anew, anew. Pure. */
import type { AlertGroup } from '#contracts';

/** By what tells the loops of a session apart. */
export const byBeginning = (groups: ReadonlyMap<string, AlertGroup>): Map<string, AlertGroup> =>
  new Map([...groups.values()].map((group) => [`${group.session_id}\0${group.first_at_ms}`, group]));

/** What was not there before. @param before null: nothing was known, and the first to be known is no news */
export const newsIn = <A>(alerts: ReadonlyMap<string, A>, before: ReadonlyMap<string, A> | null): A[] =>
  before === null ? [] : [...alerts].flatMap(([id, alert]) => (before.has(id) ? [] : [alert]));
