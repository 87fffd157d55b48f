/**
 * Alerts: rules, channels, deliveries. Whoever knows something tells the monitor (`ALERT_MONITOR`); the application ties
 * the rest before it listens: `area.start(hub, known, watch)`, and `area.stop()` when it ends.
 */
import { Module } from '@nestjs/common';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { DecisionStore, LivePublisher, ProxyStore, SecretBox } from '#contracts';
import { type Clock, type IdSource, systemTimer } from '#kernel';
import type { GatewayConfig } from '../config/config.js';
import type { RuntimeConfigStore } from '../config/runtime-config-store.js';
import {
  CLOCK,
  CONFIG,
  IDS,
  LIVE,
  LOGGER,
  METRICS,
  PROXY_STORE,
  RUNTIME_CONFIG,
  SECRET_BOX,
  STORE,
} from '../tokens.js';
import { ALERT_MONITOR } from './alert-monitor.js';
import { AlertsArea } from './alerts.area.js';
import { AlertsController } from './alerts.controller.js';

@Module({
  controllers: [AlertsController],
  providers: [
    {
      provide: AlertsArea,
      inject: [CLOCK, IDS, LOGGER, METRICS, STORE, PROXY_STORE, SECRET_BOX, LIVE, CONFIG, RUNTIME_CONFIG],
      useFactory: async (
        clock: Clock,
        ids: IdSource,
        logger: Logger,
        metrics: Registry,
        store: DecisionStore,
        proxyStore: ProxyStore,
        box: SecretBox,
        live: LivePublisher,
        { publicUrl }: GatewayConfig,
        config: Pick<RuntimeConfigStore, 'effective'>,
      ): Promise<AlertsArea> => {
        const area = new AlertsArea({
          clock,
          ids,
          timer: systemTimer,
          random: Math.random,
          logger,
          metrics,
          store,
          proxyStore,
          box,
          live,
          publicUrl,
          expiryAction: () => config.effective().values.hitl_expiry_action,
        });
        await area.load();
        return area;
      },
    },
    { provide: ALERT_MONITOR, inject: [AlertsArea], useFactory: (area: AlertsArea) => area.monitor },
  ],
  exports: [AlertsArea, ALERT_MONITOR],
})
export class AlertsModule {}
