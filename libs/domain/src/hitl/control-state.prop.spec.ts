import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ControlRow, type HitlCommand, LIMITS } from '#contracts';
import {
  type Confirmation,
  decideAcknowledge,
  decideCommand,
  decideExpiry,
  holdsMessages,
  initialControl,
} from './control-state.js';

type Event =
  | { kind: 'command'; command: HitlCommand; pauseTtlMs: number }
  | { kind: 'confirm'; confirmed: (row: ControlRow) => Confirmation }
  | { kind: 'time'; ms: number; action: 'resume' | 'terminate' }
  | { kind: 'message' };

const command: fc.Arbitrary<HitlCommand> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<HitlCommand>({ command: 'pause', reason: 'r' }) },
  { weight: 3, arbitrary: fc.constant<HitlCommand>({ command: 'resume' }) },
  { weight: 6, arbitrary: fc.constant<HitlCommand>({ command: 'inject', prompt: 'p' }) },
  { weight: 2, arbitrary: fc.constant<HitlCommand>({ command: 'rewrite', trace_id: 't', new_content: 'c' }) },
  { weight: 1, arbitrary: fc.constant<HitlCommand>({ command: 'terminate', reason: 'r' }) },
);

const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({
    kind: fc.constant('command' as const),
    command,
    pauseTtlMs: fc.constantFrom(0, 50, 1_000),
  }),
  fc.record({
    kind: fc.constant('confirm' as const),
    confirmed: fc.tuple(fc.nat(3), fc.constantFrom('taken' as const, 'shown' as const)).map(
      ([behind, kind]) =>
        (row: ControlRow): Confirmation => ({ kind, upToSeq: row.directive_seq - behind }),
    ),
  }),
  fc.record({
    kind: fc.constant('time' as const),
    ms: fc.nat(100),
    action: fc.constantFrom('resume' as const, 'terminate' as const),
  }),
  fc.constant<Event>({ kind: 'message' }),
);

/** What the desk does with decisions, reduced to a row and two lists of messages. */
class Model {
  row = initialControl('default', 's-1');
  nowMs = 0;
  messageCount = 0;
  held: number[] = [];
  published: number[] = [];

  apply(happening: Event): void {
    switch (happening.kind) {
      case 'command':
        this.command(happening.command, happening.pauseTtlMs);
        break;
      case 'confirm': {
        const decision = decideAcknowledge(this.row, happening.confirmed(this.row));
        if (decision.kind === 'apply') this.row = decision.next;
        break;
      }
      case 'time': {
        this.nowMs += happening.ms;
        const isDue = this.row.expires_at_ms !== null && this.row.expires_at_ms <= this.nowMs;
        const first = decideExpiry(this.row, isDue, happening.action);
        if (first.kind === 'expire') this.row = first.next;
        const second = decideExpiry(this.row, isDue, happening.action);
        if (second.kind === 'resolve') this.command(second.command, 0);
        break;
      }
      case 'message':
        this.messageCount += 1;
        (holdsMessages(this.row.state) ? this.held : this.published).push(this.messageCount);
    }
  }

  command(given: HitlCommand, pauseTtlMs: number): void {
    const decision = decideCommand(this.row, given, {
      operatorId: 'ada',
      nowMs: this.nowMs,
      pauseTtlMs,
      directiveId: `d-${this.row.directive_seq + 1}`,
      isHeld: this.held.length > 0,
    });
    if (decision.kind === 'refuse' && given.command !== 'rewrite' && given.command !== 'inject') {
      expect(this.row.state).toBe('terminated');
    }
    if (decision.kind !== 'apply') return;
    expect(decision.directive.seq).toBe(this.row.directive_seq + 1);
    this.row = decision.next;
    if (decision.releasesHeld) this.published.push(...this.held.splice(0));
  }
}

const ascending = (values: number[]): boolean =>
  values.every((value, index) => index === 0 || value > (values[index - 1] as number));

it('keeps termination final, directives ascending and bounded, and messages neither lost nor overtaken', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 150, size: 'max' }), (events) => {
      const model = new Model();
      for (const happening of events) {
        const before = model.row;
        model.apply(happening);
        if (before.state === 'terminated') expect(model.row.state).toBe('terminated');
        const seqs = model.row.directives.map(({ seq }) => seq);
        expect(ascending(seqs)).toBe(true);
        expect(seqs.at(-1) ?? 0).toBeLessThanOrEqual(model.row.directive_seq);
        expect(model.row.directive_seq).toBeGreaterThanOrEqual(before.directive_seq);
        expect(seqs.length).toBeLessThanOrEqual(LIMITS.directivesPerSessionMax);
        expect(
          model.row.directives.filter(({ type }) => type === 'pause' || type === 'resume').length,
        ).toBeLessThanOrEqual(1);
        if (!holdsMessages(model.row.state)) expect(model.held).toEqual([]);
        expect(ascending(model.published)).toBe(true);
        expect(model.published.length + model.held.length).toBe(model.messageCount);
      }
    }),
  );
});

it('can always be stopped: pause, resume and terminate are refused in terminated only', () => {
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 200, size: 'max' }),
      fc.constantFrom('pause' as const, 'terminate' as const),
      (events, stop) => {
        const model = new Model();
        for (const happening of events) model.apply(happening);
        const decision = decideCommand(
          model.row,
          { command: stop, reason: 'now' },
          { operatorId: 'ada', nowMs: 0, pauseTtlMs: 0, directiveId: 'd', isHeld: false },
        );
        if (model.row.state !== 'terminated') expect(decision.kind).not.toBe('refuse');
      },
    ),
  );
});
