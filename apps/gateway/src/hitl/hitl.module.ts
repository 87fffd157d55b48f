/**
 * Human in the loop: commands, control polls, audit.
 *
 * The desk and the session directory need each other. The decision-log module imports this one; the application ties
 * the other end before it listens: `desk.connect(sessions)`. On shutdown it calls `desk.drain()`.
 */
import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { DecisionStore, LivePublisher, RuntimeConfigSource } from '#contracts';
import { type Clock, type IdSource, systemTimer } from '#kernel';
import { CLOCK, IDS, LIVE, LOGGER, METRICS, RUNTIME_CONFIG, STORE } from '../tokens.js';
import { AgentControlController } from './agent-control.controller.js';
import { AuditController } from './audit.controller.js';
import { CommandController } from './command.controller.js';
import { CONTROL_DESK } from './control-desk.js';
import { HitlDesk } from './hitl-desk.js';
import { HitlEvents } from './hitl-events.js';

@Module({
  controllers: [CommandController, AgentControlController, AuditController],
  providers: [
    {
      provide: CONTROL_DESK,
      inject: [STORE, LIVE, CLOCK, IDS, LOGGER, RUNTIME_CONFIG, METRICS],
      // Loaded before anybody can have it: a session that is not in memory is not paused.
      useFactory: async (
        store: DecisionStore,
        live: LivePublisher,
        clock: Clock,
        ids: IdSource,
        logger: Logger,
        config: RuntimeConfigSource,
        metrics: Registry,
      ): Promise<HitlDesk> => {
        const events = new HitlEvents(logger, metrics);
        const desk = new HitlDesk({
          store,
          live,
          clock,
          timer: systemTimer,
          ids,
          config,
          events,
        });
        await desk.load();
        return desk;
      },
    },
  ],
  exports: [CONTROL_DESK],
})
export class HitlModule {}
