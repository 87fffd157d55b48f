/**
 * Sums of what calls cost, by hour and by day. An hour is added to its day with the first calls of a later one, so that
 * ordinary calls pay for their hour alone; what comes late for such an hour is added to both.
 *
 *     spend_hours  [..][..][..][..] [..][..][..][..] [..][. this hour
 *     spend_days   [      1       ] [      1       ] [ ..]| ADDED_BEFORE
 */
import type { Database, Statement } from 'better-sqlite3';
import { DAY_MS, HOUR_MS } from '#kernel';
import type { Primitive } from '../wire.js';
import { SPEND_COLUMNS, SPEND_KEY_WIDTH, SPEND_SUMS, spendWidth } from './proxy-protocol.js';
import { ADDED_BEFORE, dayOf, SPEND_DAY_COLUMNS, TENANTS } from './spend-day-table.js';

const HOUR_AT = SPEND_COLUMNS.indexOf('hour_ms');
/** What upstreams with broken figures claim adds up to this in a day at most: beyond 64 bits no later call could be written. */
const DAY_SUM_MAX = '9000000000000000000';

/** Keeps nothing between calls, so that nothing need be put back when a transaction is undone. */
export class SpendTable {
  readonly #addToHour: Statement;
  readonly #addToDay: Statement;
  readonly #addedBefore: Statement;
  readonly #setAddedBefore: Statement;
  readonly #firstHourFrom: Statement;
  readonly #addHourToDay: Statement;

  constructor(database: Database) {
    const values = `VALUES (?${', ?'.repeat(spendWidth - 1)})`;
    const toHour = (sum: string) => `${sum} + excluded.${sum}`;
    const toDay = (sum: string) => `min(${sum} + excluded.${sum}, ${DAY_SUM_MAX})`;
    this.#addToHour = database.prepare(upsert('spend_hours', SPEND_COLUMNS, values, toHour));
    this.#addToDay = database.prepare(upsert('spend_days', SPEND_DAY_COLUMNS, values, toDay));
    this.#addedBefore = database
      .prepare(`SELECT coalesce((SELECT value FROM counters WHERE name = '${ADDED_BEFORE}'), 0)`)
      .pluck();
    this.#setAddedBefore = database.prepare(
      `INSERT INTO counters (name, value) VALUES ('${ADDED_BEFORE}', ?)
       ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    );
    this.#firstHourFrom = database
      .prepare(
        `${TENANTS} SELECT min((SELECT min(hour_ms) FROM spend_hours WHERE tenant_id = id AND hour_ms >= ?))
         FROM tenants WHERE id IS NOT NULL`,
      )
      .pluck();
    const ofHour = `SELECT tenant_id, hour_ms - hour_ms % ${DAY_MS}, agent_id, model, ${SPEND_SUMS.join(', ')}
      FROM tenants CROSS JOIN spend_hours ON tenant_id = id WHERE hour_ms = ?`;
    this.#addHourToDay = database.prepare(
      `${TENANTS} ${upsert('spend_days', SPEND_DAY_COLUMNS, ofHour, toDay)}`,
    );
  }

  /** @param spend `spendWidth` values a sum */
  add(spend: readonly Primitive[]): void {
    const addedBeforeMs = this.#addedBefore.get() as number;
    let latestMs = addedBeforeMs;
    for (let at = 0; at < spend.length; at += spendWidth) {
      const sum = spend.slice(at, at + spendWidth);
      const hourMs = sum[HOUR_AT] as number;
      this.#addToHour.run(sum);
      if (hourMs < addedBeforeMs) this.#addToDay.run(sum.with(HOUR_AT, dayOf(hourMs)));
      latestMs = Math.max(latestMs, hourMs);
    }
    if (latestMs > addedBeforeMs) this.#addOneHour(addedBeforeMs, latestMs);
  }

  /** One at a time: after an update there may be years of them, and whatever shares the commit waits. */
  #addOneHour(fromMs: number, latestMs: number): void {
    const hourMs = this.#firstHourFrom.get(fromMs) as number;
    if (hourMs < latestMs) this.#addHourToDay.run(hourMs);
    this.#setAddedBefore.run(Math.min(hourMs + HOUR_MS, latestMs));
  }
}

function upsert(
  table: string,
  columns: readonly string[],
  source: string,
  add: (sum: string) => string,
): string {
  const sums = SPEND_SUMS.map((sum) => `${sum} = ${add(sum)}`);
  return `INSERT INTO ${table} (${columns.join(', ')}) ${source}
    ON CONFLICT (${columns.slice(0, SPEND_KEY_WIDTH).join(', ')}) DO UPDATE SET ${sums.join(', ')}`;
}
