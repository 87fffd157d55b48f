/** What everything stands on: clock, ids, the open store. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Global, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { SqliteStore } from '#adapters/sqlite';
import type { DecisionStore } from '#contracts';
import { type Clock, randomIds, systemClock } from '#kernel';
import type { GatewayConfig } from './config/config.js';
import { CLOCK, CONFIG, IDS, LOGGER, STORE } from './tokens.js';

const DATABASE_FILE = 'observatory.db';
/** Only the owner may look into the data folder. */
const DATA_DIR_MODE = 0o700;

@Global()
@Module({
  providers: [
    { provide: CLOCK, useValue: systemClock },
    { provide: IDS, useValue: randomIds },
    {
      provide: STORE,
      inject: [CONFIG, CLOCK, LOGGER],
      useFactory: async (
        { dataDir }: GatewayConfig,
        clock: Clock,
        _logger: Logger,
      ): Promise<DecisionStore> => {
        mkdirSync(dataDir, { recursive: true, mode: DATA_DIR_MODE });
        const store = new SqliteStore({ path: join(dataDir, DATABASE_FILE), clock });
        await store.open();
        return store;
      },
    },
  ],
  exports: [CLOCK, IDS, STORE],
})
export class PlatformModule {}
