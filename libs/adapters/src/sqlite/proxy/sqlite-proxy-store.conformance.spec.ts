import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#kernel';
import { describeProxyStore } from '../../../../testing/src/proxy-store.conformance.js';
import { SqliteStore } from '../sqlite-store.js';
import { SqliteProxyStore } from './sqlite-proxy-store.js';

describeProxyStore('SQLite, in the calling thread', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'observatory-proxy-store-'));
  let store: SqliteStore;
  return {
    open: async () => {
      store = new SqliteStore({ path: join(folder, 'o.db'), clock: systemClock, workerUrl: null });
      await store.open();
      return new SqliteProxyStore(store.database);
    },
    close: () => store.close(),
    deleteOlder: (beforeMs) => store.enforceRetention({ beforeMs, bytesMax: null }),
    remove: () => rm(folder, { recursive: true }),
  };
});
