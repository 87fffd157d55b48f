/** Sums of what was spent: whole days that are over by the day, the rest by the hour. */
import type { Database } from 'better-sqlite3';
import type { SpendGroup } from '#contracts';
import { DAY_MS } from '#kernel';
import { READ_COUNTER } from '../counters.js';
import { PreparedStatements } from '../prepared-statements.js';
import { where } from '../where.js';
import { type RawAgentSpend, type RawSpend, SPEND_SUMS, type SpendKeys } from './proxy-protocol.js';
import { ADDED_BEFORE, dayOf, TENANTS } from './spend-day-table.js';

/** Of more lines than are shown, the most expensive or the latest ones are. */
const GROUPS: Record<SpendGroup, { key: string; order: string }> = {
  agent: { key: 'agent_id', order: 'cost_nano_usd DESC, call_count DESC, key' },
  model: { key: 'model', order: 'cost_nano_usd DESC, call_count DESC, key' },
  day: { key: `at_ms - at_ms % ${DAY_MS}`, order: 'key DESC' },
  hour: { key: 'at_ms', order: 'key DESC' },
};

/** From one time up to, not including, another. */
type Span = readonly [fromMs: number, toMs: number];

export class SpendReader {
  readonly #database: Database;
  readonly #sql: PreparedStatements;

  constructor(database: Database) {
    this.#database = database;
    this.#sql = new PreparedStatements(database);
  }

  spend(keys: SpendKeys): RawSpend[] {
    // One snapshot: what is added to a day between the two queries would count twice.
    return this.#database.transaction(() => {
      const { fromHourMs, toMs } = keys;
      const days = keys.group === 'hour' ? null : this.#wholeDays(fromHourMs, toMs);
      if (days === null) return this.#sum(keys, [hoursOf([fromHourMs, toMs])]);
      const [firstMs, endMs] = days;
      return this.#sum(keys, [hoursOf([fromHourMs, firstMs]), daysOf(days), hoursOf([endMs, toMs])]);
    })();
  }

  /** Leaps from tenant to tenant, for the key begins with them and hours come second. */
  spendByAgent(fromHourMs: number): RawAgentSpend[] {
    return this.#sql.all(
      `${TENANTS}
       SELECT tenant_id, agent_id, hour_ms, total(cost_nano_usd) AS cost_nano_usd,
         total(unpriced_call_count) AS unpriced_call_count
       FROM tenants CROSS JOIN spend_hours ON tenant_id = id AND hour_ms >= ?
       GROUP BY tenant_id, hour_ms, agent_id`,
      [fromHourMs],
    );
  }

  /** Those of the span that are whole in `spend_days`; null for none. */
  #wholeDays(fromMs: number, toMs: number): Span | null {
    const added = this.#sql.get<{ value: number }>(READ_COUNTER, [ADDED_BEFORE]);
    const firstMs = dayOf(fromMs + DAY_MS - 1);
    const endMs = dayOf(Math.min(toMs, added?.value ?? 0));
    return firstMs < endMs ? [firstMs, endMs] : null;
  }

  #sum({ tenantId, group, agentId, model, limit }: SpendKeys, parts: Part[]): RawSpend[] {
    const sums = parts.map(({ table, at, span: [fromMs, toMs] }) => {
      const { sql, values } = where([
        ['tenant_id = ?', tenantId],
        [`${at} >= ?`, fromMs],
        [`${at} < ?`, toMs],
        ['agent_id = ?', agentId],
        ['model = ?', model],
      ]);
      const columns = `${at} AS at_ms, agent_id, model, ${SPEND_SUMS.join(', ')}`;
      return { sql: `SELECT ${columns} FROM ${table} WHERE ${sql}`, values };
    });
    const { key, order } = GROUPS[group];
    // total() and not sum(): it never overflows.
    return this.#sql.all(
      `SELECT ${key} AS key, ${SPEND_SUMS.map((sum) => `total(${sum}) AS ${sum}`).join(', ')}
       FROM (${sums.map(({ sql }) => sql).join(' UNION ALL ')}) GROUP BY 1 ORDER BY ${order} LIMIT ?`,
      [...sums.flatMap(({ values }) => values), limit],
    );
  }
}

interface Part {
  table: string;
  /** Column of its time. */
  at: string;
  span: Span;
}
const hoursOf = (span: Span): Part => ({ table: 'spend_hours', at: 'hour_ms', span });
const daysOf = (span: Span): Part => ({ table: 'spend_days', at: 'day_ms', span });
