/** What the store tells its owner, one event per thing worth a log line or a counter. Never holds what was stored. */
export type StoreEvent =
  /** A database of an older version is brought up to date before the store is open; that version cannot read it afterwards. */
  | { kind: 'migrating'; fromVersion: number; toVersion: number }
  /** Steps of an older version, or of a crash, are indexed before the store is open: 25 us each on a slow core. */
  | { kind: 'indexing'; stepCountMax: number }
  /** A batch is on disk. `durationMs`: transaction and fsync, without the time in the queue. */
  | { kind: 'committed'; rowCount: number; durationMs: number }
  /** Writes were turned away: before they were queued, by a disk that has no room, or by the answer to who asked beforehand. */
  | { kind: 'refused'; reason: 'store_busy' | 'store_full'; rowCount: number }
  /** A read was turned away: its tenant has its share waiting. */
  | { kind: 'read_refused' }
  /** A batch was not kept, for another reason than the disk. */
  | { kind: 'batch_failed'; rowCount: number; detail: string }
  | { kind: 'disk_full'; detail: string }
  | { kind: 'disk_recovered' }
  /** The disk had no room for a command: what was kept for commands is free now. */
  | { kind: 'reserve_released'; bytes: number }
  /** A thread ended by itself: the store takes nothing more until the process starts anew. */
  | { kind: 'thread_failed'; detail: string };
