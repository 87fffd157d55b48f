/**
 * How one topic's wire becomes what the page shows: two pure functions. Neither mutates its input; `apply` may return
 * the same object when nothing changed.
 */
export interface TopicMerge<Data, Snapshot, Event> {
  start(snapshot: Snapshot): Data;
  /** @param events in order of their sequence numbers; at least one. */
  apply(data: Data, events: readonly Event[]): Data;
}
