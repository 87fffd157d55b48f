/** The audit as JSON lines, oldest first, read page by page as the client takes them: nothing is held in memory. */
import { Readable } from 'node:stream';
import { type AuditEntry, type DecisionStore, LIMITS, type Page } from '#contracts';
import { plainLine } from '#kernel';

export interface AuditExportQuery {
  tenant_id: string;
  session_id?: string | undefined;
}

/**
 * Resolves once the first page was read, so that a store that refuses still answers with its code; a failure later
 * breaks the stream off, and the client sees an incomplete transfer.
 */
export async function exportAudit(
  store: Pick<DecisionStore, 'audit'>,
  query: AuditExportQuery,
): Promise<Readable> {
  const read = (cursor?: string) =>
    store.audit({ ...query, order: 'asc', limit: LIMITS.pageRowsMax, cursor });
  const first = await read();
  return Readable.from(pages(first, read), { objectMode: false });
}

async function* pages(
  first: Page<AuditEntry>,
  read: (cursor: string) => Promise<Page<AuditEntry>>,
): AsyncGenerator<Buffer> {
  for (let page = first; ; ) {
    if (page.items.length > 0) {
      yield Buffer.from(page.items.map((entry) => `${plainLine(JSON.stringify(entry))}\n`).join(''));
    }
    if (page.next_cursor === null) return;
    page = await read(page.next_cursor);
  }
}
