// TEMPORARY placeholder so that the tree compiles; the alerts area replaces this file.
import { Module } from '@nestjs/common';
import { ALERT_MONITOR } from './alert-monitor.js';
@Module({ providers: [{ provide: ALERT_MONITOR, useValue: { note() {} } }], exports: [ALERT_MONITOR] })
export class AlertsModule {}
