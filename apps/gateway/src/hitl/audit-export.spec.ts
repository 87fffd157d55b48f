import { expect, it, vi } from 'vitest';
import { type AuditEntry, ObservatoryError, type Page } from '#contracts';
import { exportAudit } from './audit-export.js';

const entry = (seq: number): AuditEntry => ({
  seq,
  tenant_id: 'default',
  at_ms: 0,
  operator_id: 'ada',
  role: 'operator',
  action: 'pause',
  session_id: 's-1',
  before_state: 'active',
  after_state: 'pause_requested',
  outcome: 'ok',
  detail: { reason: 'line\nbreak' },
  prev_hash: '',
  hash: '',
});

/** Pages of one entry each, numbered from 1. */
function pagedStore(entryCount: number) {
  const audit = vi.fn(async ({ cursor }: { cursor?: string | undefined }): Promise<Page<AuditEntry>> => {
    const seq = Number(cursor ?? 0) + 1;
    return { items: [entry(seq)], next_cursor: seq < entryCount ? String(seq) : null };
  });
  return { audit };
}

const always = () => true;

it('writes one JSON object a line, oldest first, over all pages', async () => {
  const store = pagedStore(3);
  const chunks: Buffer[] = [];
  for await (const chunk of await exportAudit(store, { tenant_id: 'default', session_id: 's-1' }, always)) {
    chunks.push(chunk);
  }
  const lines = Buffer.concat(chunks).toString().split('\n');
  expect(lines.pop()).toBe('');
  expect(lines.map((line) => JSON.parse(line))).toEqual([entry(1), entry(2), entry(3)]);
  expect(store.audit).toHaveBeenCalledWith({
    tenant_id: 'default',
    session_id: 's-1',
    order: 'asc',
    limit: 500,
    cursor: undefined,
  });
});

it('leaves nothing raw that some reader takes for the end of a line', async () => {
  const odd = { ...entry(1), session_id: 's\u2028\u2029', detail: { reason: '\u0085' } };
  const audit = vi.fn().mockResolvedValue({ items: [odd], next_cursor: null });
  const chunks: Buffer[] = [];
  for await (const chunk of await exportAudit({ audit }, { tenant_id: 'default' }, always))
    chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  expect(text).not.toMatch(/[\u0085\p{Zl}\p{Zp}]/u);
  expect(JSON.parse(text)).toEqual(odd);
});

it('reads no further page than a client that stopped reading needs', async () => {
  const store = pagedStore(1_000_000);
  const stream = await exportAudit(store, { tenant_id: 'default' }, always);
  await stream[Symbol.asyncIterator]().next();
  stream.destroy();
  await new Promise((resolve) => stream.once('close', resolve));
  expect(store.audit.mock.calls.length).toBeLessThan(1_000);
});

it('rejects with the code of the store before a byte was sent', async () => {
  const audit = vi.fn().mockRejectedValue(new ObservatoryError('store_busy'));
  await expect(exportAudit({ audit }, { tenant_id: 'default' }, always)).rejects.toMatchObject({
    code: 'store_busy',
  });
});

it('is an empty stream for an empty audit', async () => {
  const audit = vi.fn().mockResolvedValue({ items: [], next_cursor: null });
  const chunks: Buffer[] = [];
  for await (const chunk of await exportAudit({ audit }, { tenant_id: 'default' }, always))
    chunks.push(chunk);
  expect(chunks).toEqual([]);
});

it('breaks off for a reader whose token or login has ended', async () => {
  let isLive = true;
  const lines: Buffer[] = [];
  const reading = async () => {
    for await (const line of await exportAudit(pagedStore(100), { tenant_id: 'default' }, () => isLive)) {
      lines.push(line);
      isLive = lines.length < 3;
    }
  };
  await expect(reading()).rejects.toMatchObject({ code: 'unauthorized' });
  expect(lines.length).toBeLessThan(100);
});
