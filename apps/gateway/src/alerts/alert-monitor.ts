// TEMPORARY placeholder so that the tree compiles; the alerts area replaces this file.
export const ALERT_MONITOR = Symbol('AlertMonitor');
export interface AlertMonitor { note(event: Record<string, unknown>): void }
