import { join } from 'node:path';
import { SqliteProxyStore, SqliteStore } from '#adapters/sqlite';
import { systemClock } from '#kernel';
import { makeDataDir } from '../integration/start-gateway.js';

/** @returns a data folder with what is written there, as a gateway leaves one behind */
export async function writeStore(
  write: (store: SqliteStore, proxyStore: SqliteProxyStore) => Promise<void>,
): Promise<string> {
  const dataDir = makeDataDir();
  const path = join(dataDir, 'observatory.db');
  const store = new SqliteStore({ path, clock: systemClock, workerUrl: null });
  await store.open();
  await write(store, new SqliteProxyStore(store.database));
  await store.close();
  return dataDir;
}
