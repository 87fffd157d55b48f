/** The price table of each tenant: the one this program came with until an operator replaces it. Kept by version. */
import {
  type ModelPrice,
  ObservatoryError,
  type OperatorPrincipal,
  type PriceTable,
  type ProxyStore,
} from '#contracts';
import { DEFAULT_PRICES, findPrice } from '#domain/policy';
import { ChangeQueue, type Clock, canonicalJson } from '#kernel';
import type { SettingsAudit } from '../../auth/settings-audit.js';

const DOCUMENT_ID = 'table';

export interface PriceBookParts {
  store: Pick<ProxyStore, 'documents' | 'commitDocuments'>;
  audit: SettingsAudit;
  clock: Clock;
}

interface GivenPrices {
  /** Of the table that was edited. */
  version: number;
  models: ModelPrice[];
}

export class PriceBook {
  readonly #parts: PriceBookParts;
  /** By tenant. */
  readonly #changes = new ChangeQueue<string>();
  readonly #tables = new Map<string, PriceTable>();

  constructor(parts: PriceBookParts) {
    this.#parts = parts;
  }

  /** Before the first call. Rejects as the store does. */
  async load(): Promise<void> {
    for (const { tenant_id, body } of await this.#parts.store.documents('prices'))
      this.#tables.set(tenant_id, body as PriceTable);
  }

  table(tenantId: string): PriceTable {
    return this.#tables.get(tenantId) ?? DEFAULT_PRICES;
  }

  /** Null: this model has no price, or none in this tier. @param tier as `LlmAnswer.service_tier` */
  price(tenantId: string, model: string | null, tier?: string): ModelPrice | null {
    return model === null ? null : findPrice(this.table(tenantId), model, tier);
  }

  /**
   * One after another: of two who edited the same table the second is told. A change of nothing writes nothing. Rejects as the
   * store does: then nothing has changed.
   *
   * @throws ObservatoryError version_conflict when somebody else was faster
   */
  put(by: OperatorPrincipal, given: GivenPrices): Promise<PriceTable> {
    const doubled = firstDouble(given.models.map((one) => one.model));
    return this.#changes.run(by.tenant_id, async () => {
      const before = this.table(by.tenant_id);
      if (given.version !== before.version) throw new ObservatoryError('version_conflict');
      if (doubled !== null) {
        throw new ObservatoryError(
          'invalid_fields',
          `models: ${JSON.stringify(doubled)} stands there twice.`,
          {
            fields: ['models'],
          },
        );
      }
      // Of its own: the default table, which may be another with the next version of this program, is kept by sending it.
      const isOwn = this.#tables.has(by.tenant_id);
      if (isOwn && canonicalJson(given.models) === canonicalJson(before.models)) return before;
      return this.#replace(by, before, given.models);
    });
  }

  async #replace(by: OperatorPrincipal, before: PriceTable, models: ModelPrice[]): Promise<PriceTable> {
    const { store, audit, clock } = this.#parts;
    const nowMs = clock.nowMs();
    const table: PriceTable = {
      version: before.version + 1,
      updated_at_ms: nowMs,
      updated_by: by.operator_id,
      models,
    };
    const key = { tenant_id: by.tenant_id, kind: 'prices', id: DOCUMENT_ID } as const;
    await store.commitDocuments({
      saved: [{ ...key, body: table, updated_at_ms: nowMs }],
      audit: [
        audit.draft(
          by,
          by.tenant_id,
          'prices.update',
          { model_count: models.length },
          { before: `version ${before.version}`, after: `version ${table.version}` },
        ),
      ],
    });
    this.#tables.set(by.tenant_id, table);
    return table;
  }
}

function firstDouble(names: readonly string[]): string | null {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return null;
}
