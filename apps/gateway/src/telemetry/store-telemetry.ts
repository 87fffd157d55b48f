/** What the store tells, each event once: log line and counter together. */
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { StoreEvent } from '#adapters/sqlite';
import { beginAtZero, metersOf } from './metrics.js';

/**
 * @param onThreadFailed the store will take nothing more in this process: only a restart helps
 * @returns the store's `onEvent`
 */
export function storeTelemetry(
  logger: Logger,
  registry: Registry,
  onThreadFailed: () => void,
): (event: StoreEvent) => void {
  const { counter, histogram } = metersOf(registry);
  const rows = counter('store_rows_total', 'Rows committed.');
  const commits = histogram(
    'store_commit_seconds',
    'One group commit: transaction and fsync.',
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2],
  );
  const refused = counter('store_refused_total', 'Writes turned away, by reason.', 'reason');
  beginAtZero(refused, 'reason', ['store_busy', 'store_full', 'batch_failed']);
  const readsRefused = counter(
    'store_reads_refused_total',
    'Reads turned away: their tenant had its share waiting.',
  );
  return (event) => {
    switch (event.kind) {
      // On a terminal, too, where nobody would know what a start of minutes is about.
      case 'migrating':
        logger.warn(
          { event: 'store_migrating', from_version: event.fromVersion, to_version: event.toVersion },
          'bringing the database up to date before listening, up to a minute per million stored steps; an older Observatory cannot read it afterwards',
        );
        return;
      case 'indexing':
        logger.info(
          { event: 'store_indexing', step_count_max: event.stepCountMax },
          'indexing stored steps before listening; about 25 s per million',
        );
        return;
      case 'committed':
        rows.inc(event.rowCount);
        commits.observe(event.durationMs / 1000);
        return;
      case 'refused':
        refused.inc({ reason: event.reason }, event.rowCount);
        return;
      case 'read_refused':
        readsRefused.inc();
        return;
      case 'batch_failed':
        refused.inc({ reason: 'batch_failed' }, event.rowCount);
        logger.error({ event: 'store_batch_failed', detail: event.detail }, 'a batch was not stored');
        return;
      case 'disk_full':
        logger.error(
          { event: 'store_disk_full', detail: event.detail },
          'the disk takes no writes: it is full or it fails, as the detail says; they are refused',
        );
        return;
      case 'disk_recovered':
        logger.warn({ event: 'store_disk_recovered' }, 'the disk takes writes again');
        return;
      case 'reserve_released':
        logger.error(
          { event: 'store_reserve_released', bytes: event.bytes },
          'the disk is full to the last byte; commands are written where room was kept for them, which is not much',
        );
        return;
      case 'thread_failed':
        logger.fatal({ event: 'store_thread_failed', detail: event.detail }, 'the store died; stopping');
        onThreadFailed();
    }
  };
}
