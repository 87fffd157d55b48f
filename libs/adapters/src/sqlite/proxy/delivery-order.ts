/** An index for deliveries of one state to one channel, which few of either may be. Database version 7. */
import type { Database } from 'better-sqlite3';

export function deliveryOrder(database: Database): void {
  database.exec(
    'CREATE INDEX alert_deliveries_of_channel_and_state ON alert_deliveries (tenant_id, channel_id, state)',
  );
}
