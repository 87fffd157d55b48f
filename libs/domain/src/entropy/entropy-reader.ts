/** What everyone but the schema interceptor may do with windows: look. @see FR-9.1 */
import type { EntropyTuple, SessionKey } from '#contracts';

export interface EntropyReader {
  /** Tuples of the session's window, oldest first, as copies; empty for an unknown session. Does not count as use. */
  snapshot(key: SessionKey): readonly EntropyTuple[];
}
