/** The audit as JSON lines, oldest first, read page by page as the client takes them: nothing is held in memory. */
import { Readable } from 'node:stream';
import { type AuditEntry, type DecisionStore, LIMITS, ObservatoryError, type Page } from '#contracts';
import { plainLine } from '#kernel';

export interface AuditExportQuery {
  tenant_id: string;
  session_id?: string | undefined;
}

/**
 * Resolves once the first page was read, so that a store that refuses still answers with its code; a failure later
 * breaks the stream off, and the client sees an incomplete transfer.
 *
 * @param isLive whoever asked still may: a client that takes its time would read on after its token or login has ended
 */
export async function exportAudit(
  store: Pick<DecisionStore, 'audit'>,
  query: AuditExportQuery,
  isLive: () => boolean,
): Promise<Readable> {
  const read = (cursor?: string) =>
    store.audit({ ...query, order: 'asc', limit: LIMITS.pageRowsMax, cursor });
  const first = await read();
  const readOn = async (cursor: string): Promise<Page<AuditEntry>> => {
    const page = await read(cursor);
    if (!isLive()) throw new ObservatoryError('unauthorized');
    return page;
  };
  return Readable.from(pages(first, readOn), { objectMode: false });
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
