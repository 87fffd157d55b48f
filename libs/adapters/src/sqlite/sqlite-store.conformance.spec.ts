import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#kernel';
import { describeDecisionStore } from '../../../testing/src/decision-store.conformance.js';
import { SqliteStore } from './sqlite-store.js';

describeDecisionStore('SQLite, in the calling thread', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'observatory-store-'));
  return {
    open: async () => {
      const store = new SqliteStore({ path: join(folder, 'o.db'), clock: systemClock, workerUrl: null });
      await store.open();
      return store;
    },
    remove: () => rm(folder, { recursive: true }),
  };
});
