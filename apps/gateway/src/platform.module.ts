/** What everything stands on: clock, ids, the open store. */
import { join } from 'node:path';
import { Global, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { SqliteProxyStore, SqliteStore } from '#adapters/sqlite';
import type { DecisionStore, ProxyStore } from '#contracts';
import { type Clock, randomIds, systemClock } from '#kernel';
import type { GatewayConfig } from './config/config.js';
import { storeTrouble } from './config/store-trouble.js';
import { storeTelemetry } from './telemetry/store-telemetry.js';
import { CLOCK, CONFIG, IDS, LOGGER, METRICS, PROXY_STORE, STORE } from './tokens.js';

const DATABASE_FILE = 'observatory.db';

@Global()
@Module({
  providers: [
    { provide: CLOCK, useValue: systemClock },
    { provide: IDS, useValue: randomIds },
    {
      provide: STORE,
      inject: [CONFIG, CLOCK, LOGGER, METRICS],
      useFactory: async (
        { dataDir }: GatewayConfig,
        clock: Clock,
        logger: Logger,
        metrics: Registry,
      ): Promise<DecisionStore> => {
        // A gateway that can store nothing is of no use to anybody; whoever supervises it starts it anew.
        const onEvent = storeTelemetry(logger, metrics, () => process.exit(1));
        const store = new SqliteStore({ path: join(dataDir, DATABASE_FILE), clock, onEvent });
        try {
          await store.open();
        } catch (error) {
          throw storeTrouble(error instanceof Error ? error.message : String(error), { dataDir });
        }
        return store;
      },
    },
    {
      // The same file and threads: opened, drained and closed with the other.
      provide: PROXY_STORE,
      inject: [STORE],
      useFactory: (store: SqliteStore): ProxyStore => new SqliteProxyStore(store.database),
    },
  ],
  exports: [CLOCK, IDS, STORE, PROXY_STORE],
})
export class PlatformModule {}
