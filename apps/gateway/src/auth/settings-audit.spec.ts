import { expect, it } from 'vitest';
import { type AuditDraft, type ControlCommit, ObservatoryError, type OperatorPrincipal } from '#contracts';
import { FakeClock } from '#testing';
import { type AuditLine, SettingsAudit } from './settings-audit.js';

const LINE: AuditLine = [
  { operator_id: 'ada', role: 'admin' } as OperatorPrincipal,
  'default',
  'purge',
  { of: 'a' },
];

function auditOn(store: { isFull: boolean }) {
  const lines: string[] = [];
  const tell = ({ action, outcome, detail }: AuditDraft) => `${action} ${outcome} ${JSON.stringify(detail)}`;
  const commitControl = async ({ audit = [] }: { audit?: AuditDraft[] }) => {
    if (store.isFull) throw new Error('store_full');
    lines.push(...audit.map(tell));
    return {} as ControlCommit;
  };
  return { audit: new SettingsAudit({ commitControl }, new FakeClock()), lines };
}

it('has an act outside the store begin behind its line, and says what came of it', async () => {
  const { audit, lines } = auditOn({ isFull: false });
  const act = async () => lines.push('the act');
  const count = await audit.around(LINE, act, (count) => ({ count }));
  expect(count).toBe(2);
  expect(lines).toEqual(['purge begun {"of":"a"}', 'the act', 'purge ok {"of":"a","count":2}']);
});

it('says so of an act that was refused, by its code', async () => {
  const { audit, lines } = auditOn({ isFull: false });
  const refused = audit.around(LINE, () => Promise.reject(new ObservatoryError('cache_unavailable')));
  await expect(refused).rejects.toMatchObject({ code: 'cache_unavailable' });
  expect(lines).toEqual(['purge begun {"of":"a"}', 'purge cache_unavailable {"of":"a"}']);
});

it('begins nothing where the store takes no line', async () => {
  const { audit } = auditOn({ isFull: true });
  await expect(audit.around(LINE, async () => expect.unreachable())).rejects.toThrow('store_full');
});

it('fails where the store takes the first line alone, which stands for what was done', async () => {
  const store = { isFull: false };
  const { audit, lines } = auditOn(store);
  const act = async () => {
    store.isFull = true;
  };
  await expect(audit.around(LINE, act)).rejects.toThrow('store_full');
  expect(lines).toEqual(['purge begun {"of":"a"}']);
});

it('begins nothing for somebody whose token has ended, and says what came of what began before', async () => {
  const { audit, lines } = auditOn({ isFull: false });
  const [by, ...rest] = LINE;
  let isInForce = true;
  const line: AuditLine = [{ ...by, isInForce: () => isInForce }, ...rest];
  await audit.around(line, async () => {
    isInForce = false;
  });
  const unauthorized = { code: 'unauthorized' };
  await expect(audit.around(line, async () => expect.unreachable())).rejects.toMatchObject(unauthorized);
  await expect(audit.record(...line)).rejects.toMatchObject(unauthorized);
  expect(lines).toEqual(['purge begun {"of":"a"}', 'purge ok {"of":"a"}']);
});
