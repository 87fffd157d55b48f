export { copyDatabase } from './copy-database.js';
export { makeFolder } from './make-folder.js';
export type { Durability } from './protocol.js';
export { SqliteProxyStore } from './proxy/sqlite-proxy-store.js';
/** For tests and benches that look into a database's file. */
export { SQLite } from './sqlite-library.js';
export { SqliteStore } from './sqlite-store.js';
export type { StoreEvent } from './store-event.js';
export { StoredAudit } from './stored-audit.js';
