import { describe, expect, it } from 'vitest';
import type { AuditEntry, SessionDetail, SessionEvent, StepView } from '#contracts';
import { STEPS_COUNT_MAX, sessionDetailMerge } from './session-detail';

const step = (seq: number, held = false, rewritten_by: string | null = null) =>
  ({ meta: { trace_id: `t${seq}` }, gateway: { seq, held, rewritten_by } }) as StepView;

const empty = {
  session: { control: { state: 'active' } },
  window: [],
  alert: null,
  steps: [],
  held: [],
  directives: [],
  audit: [],
} as unknown as SessionDetail;

const apply = (detail: SessionDetail, ...events: unknown[]): SessionDetail =>
  sessionDetailMerge.apply(detail, events as SessionEvent[]);
const seqs = (steps: readonly StepView[]) => steps.map((known) => known.gateway.seq);

describe('sessionDetailMerge', () => {
  it('keeps steps in the order of the store and replaces a step that comes again', () => {
    const detail = apply(
      empty,
      { kind: 'step', step: step(2), window: [] },
      { kind: 'step', step: step(5), window: [] },
      { kind: 'step', step: step(3), window: [] },
      { kind: 'step', step: step(5), window: [] },
    );
    expect(seqs(detail.steps)).toEqual([2, 3, 5]);
  });

  it('moves released messages from the held ones to the steps', () => {
    const detail = apply(
      empty,
      { kind: 'held', step: step(7, true) },
      { kind: 'held', step: step(8, true) },
      { kind: 'released', trace_ids: ['t7'] },
    );
    expect(seqs(detail.held)).toEqual([8]);
    expect(detail.steps).toMatchObject([{ gateway: { seq: 7, held: false } }]);
  });

  it('keeps what was there of a deleted session', () => {
    const deleted = apply(empty, { kind: 'step', step: step(1), window: [] }, { kind: 'deleted' });
    expect(deleted).toMatchObject({ isDeleted: true, steps: [step(1)] });
  });

  it('shows a rewrite in place', () => {
    const detail = apply(
      empty,
      { kind: 'held', step: step(7, true) },
      { kind: 'rewritten', step: step(7, true, 'ana') },
    );
    expect(detail.held).toMatchObject([{ gateway: { seq: 7, rewritten_by: 'ana' } }]);
  });

  it('shows what another operator did', () => {
    const detail = apply(empty, {
      kind: 'control',
      control: { state: 'paused', operator_id: 'ana' },
      directives: [],
    });
    expect(detail.session.control).toMatchObject({ state: 'paused', operator_id: 'ana' });
  });

  it('adds an audit entry once', () => {
    const entry = { seq: 3 } as AuditEntry;
    expect(apply(empty, { kind: 'audit', entry }, { kind: 'audit', entry }).audit).toHaveLength(1);
  });

  it('bounds the steps, dropping the oldest', () => {
    const events = Array.from({ length: STEPS_COUNT_MAX + 3 }, (_, seq) => ({
      kind: 'step',
      step: step(seq),
      window: [],
    }));
    const detail = apply(empty, ...events);
    expect(detail.steps).toHaveLength(STEPS_COUNT_MAX);
    expect(detail.steps[0]?.gateway.seq).toBe(3);
  });

  it('ignores an event of a newer gateway', () => {
    expect(apply(empty, { kind: 'novelty' })).toBe(empty);
  });
});
