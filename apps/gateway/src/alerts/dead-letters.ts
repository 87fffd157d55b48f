/** Deliveries that nobody got, sent once more: one of them, or all. Audited before anything is sent. */
import {
  type AlertDelivery,
  type DeadLettersRetried,
  LIMITS,
  ObservatoryError,
  type OperatorPrincipal,
  type ProxyStore,
} from '#contracts';
import type { SettingsAudit } from '../auth/settings-audit.js';
import type { AlertDocuments } from './alert-documents.js';
import type { DeliveryQueue } from './delivery-queue.js';

/** Put back by one request; over all channels, each of which has room of its own besides. */
const RETRIED_AT_ONCE_MAX = 1_000;

interface DeadLettersParts {
  store: Pick<ProxyStore, 'deliveries'>;
  documents: Pick<AlertDocuments, 'channel'>;
  queue: Pick<DeliveryQueue, 'retry' | 'roomOf'>;
  audit: Pick<SettingsAudit, 'record'>;
}

type Letter = Pick<AlertDelivery, 'delivery_id' | 'channel_id'>;

export class DeadLetters {
  readonly #parts: DeadLettersParts;

  constructor(parts: DeadLettersParts) {
    this.#parts = parts;
  }

  /** @throws ObservatoryError delivery_not_found, alert_channel_not_found; as the store does, and then nothing is sent */
  retry(by: OperatorPrincipal, deliveryId: string): Promise<AlertDelivery> {
    const { queue, audit, documents } = this.#parts;
    return queue.retry(by.tenant_id, deliveryId, ({ channel_id, notice }) =>
      audit.record(by, by.tenant_id, 'alert_delivery.retry', {
        delivery_id: deliveryId,
        channel_id,
        name: documents.channel(by.tenant_id, channel_id)?.name,
        type: notice.type,
      }),
    );
  }

  /**
   * The oldest first, so that what is told of one alert arrives in its order, and as many as there is room for.
   * @param channelId null: those of every channel there still is
   * @throws ObservatoryError alert_channel_not_found; as the store does, and then nothing is sent
   */
  async retryAll(by: OperatorPrincipal, channelId: string | null): Promise<DeadLettersRetried> {
    const { queue, audit, documents } = this.#parts;
    const { tenant_id } = by;
    const name = channelId === null ? undefined : documents.channel(tenant_id, channelId)?.name;
    if (channelId !== null && name === undefined) throw new ObservatoryError('alert_channel_not_found');
    const { chosen, hasMore } = await this.#withRoom(tenant_id, channelId);
    if (chosen.length === 0) return { retried_count: 0, has_more: hasMore };
    const detail = { channel_id: channelId, name, count: chosen.length };
    await audit.record(by, tenant_id, 'alert_delivery.retry_all', detail);
    let retriedCount = 0;
    for (const { delivery_id } of chosen) {
      // Gone meanwhile, with its channel or for its age: the others are not.
      const isPutBack = await queue
        .retry(tenant_id, delivery_id, async () => {})
        .then(
          () => true,
          (error: unknown) => {
            if (error instanceof ObservatoryError && error.code.endsWith('not_found')) return false;
            throw error;
          },
        );
      if (isPutBack) retriedCount += 1;
    }
    return { retried_count: retriedCount, has_more: hasMore };
  }

  /** As many as there is room for: it ends where no more can be chosen, however many there are. */
  async #withRoom(tenantId: string, channelId: string | null) {
    const room = new Map<string, number>();
    const chosen: Letter[] = [];
    let hasMore = false;
    for await (const letter of this.#oldestFirst(tenantId, channelId)) {
      const left = room.get(letter.channel_id) ?? this.#parts.queue.roomOf(letter.channel_id);
      const hasRoom = left > 0 && chosen.length < RETRIED_AT_ONCE_MAX;
      if (hasRoom) {
        room.set(letter.channel_id, left - 1);
        chosen.push(letter);
      } else hasMore = true;
      if (hasMore && (channelId !== null || chosen.length >= RETRIED_AT_ONCE_MAX)) break;
    }
    return { chosen, hasMore };
  }

  async *#oldestFirst(tenant_id: string, channelId: string | null): AsyncGenerator<Letter> {
    const { store, documents } = this.#parts;
    const filter = { tenant_id, state: 'dead', channel_id: channelId ?? undefined, order: 'asc' } as const;
    for (let cursor: string | undefined; ; ) {
      const page = await store.deliveries({ ...filter, limit: LIMITS.pageRowsMax, cursor });
      for (const { delivery_id, channel_id } of page.items)
        if (documents.channel(tenant_id, channel_id) !== undefined) yield { delivery_id, channel_id };
      if (page.next_cursor === null) return;
      cursor = page.next_cursor;
    }
  }
}
