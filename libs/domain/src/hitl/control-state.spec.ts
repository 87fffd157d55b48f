import { describe, expect, it } from 'vitest';
import {
  COMMANDS,
  CONTROL_STATES,
  type Command,
  type ControlRow,
  type ControlState,
  type Directive,
  type HitlCommand,
  LIMITS,
} from '#contracts';
import {
  agentStateOf,
  type CommandContext,
  decideAcknowledge,
  decideCommand,
  decideExpiry,
  holdsMessages,
  initialControl,
} from './control-state.js';

const NOW_MS = 1_000_000;

const context = (changes: Partial<CommandContext> = {}): CommandContext => ({
  operatorId: 'ada',
  nowMs: NOW_MS,
  pauseTtlMs: 60_000,
  directiveId: 'd-new',
  isHeld: true,
  ...changes,
});

const control = (changes: Partial<ControlRow> = {}): ControlRow => ({
  ...initialControl('default', 's-1'),
  ...changes,
});

const directive = (seq: number, type: Command): Directive => ({
  directive_id: `d-${seq}`,
  seq,
  type,
  issued_at_ms: 0,
  operator_id: 'bob',
});

const COMMAND: Record<Command, HitlCommand> = {
  pause: { command: 'pause', reason: 'look' },
  resume: { command: 'resume' },
  inject: { command: 'inject', prompt: 'try the cache' },
  rewrite: { command: 'rewrite', trace_id: 't-1', new_content: { path: '/tmp' } },
  terminate: { command: 'terminate', reason: 'enough' },
};

function outcomeOf(state: ControlState, command: Command): string {
  const decision = decideCommand(control({ state }), COMMAND[command], context());
  if (decision.kind === 'apply') {
    return `-> ${decision.next.state}${decision.releasesHeld ? ', releases' : ''}`;
  }
  return decision.kind === 'noop' ? decision.note : decision.code;
}

describe('decideCommand', () => {
  const TABLE: Record<ControlState, Record<Command, string>> = {
    active: {
      pause: '-> pause_requested',
      resume: 'not_paused',
      inject: '-> active',
      rewrite: 'held_message_not_found',
      terminate: '-> terminated',
    },
    pause_requested: {
      pause: 'already_paused',
      resume: '-> active, releases',
      inject: '-> pause_requested',
      rewrite: '-> pause_requested',
      terminate: '-> terminated, releases',
    },
    paused: {
      pause: 'already_paused',
      resume: '-> active, releases',
      inject: '-> paused',
      rewrite: '-> paused',
      terminate: '-> terminated, releases',
    },
    expired: {
      pause: '-> pause_requested',
      resume: '-> active, releases',
      inject: '-> expired',
      rewrite: '-> expired',
      terminate: '-> terminated, releases',
    },
    terminated: {
      pause: 'session_terminated',
      resume: 'session_terminated',
      inject: 'session_terminated',
      rewrite: 'session_terminated',
      terminate: 'already_terminated',
    },
  };

  for (const state of CONTROL_STATES) {
    for (const command of COMMANDS) {
      it(`answers ${command} in ${state} with "${TABLE[state][command]}"`, () => {
        expect(outcomeOf(state, command)).toBe(TABLE[state][command]);
      });
    }
  }

  it('lets a pause expire after its time to live, and never when that is 0', () => {
    const limited = decideCommand(control(), COMMAND.pause, context({ pauseTtlMs: 500 }));
    const endless = decideCommand(control(), COMMAND.pause, context({ pauseTtlMs: 0 }));
    expect(limited).toMatchObject({ next: { expires_at_ms: NOW_MS + 500 } });
    expect(endless).toMatchObject({ next: { expires_at_ms: null } });
  });

  it('records who paused, why and since when, and issues the directive with the next number', () => {
    expect(decideCommand(control({ directive_seq: 7 }), COMMAND.pause, context())).toMatchObject({
      kind: 'apply',
      next: {
        state: 'pause_requested',
        operator_id: 'ada',
        reason: 'look',
        since_ms: NOW_MS,
        directive_seq: 8,
      },
      directive: {
        directive_id: 'd-new',
        seq: 8,
        type: 'pause',
        issued_at_ms: NOW_MS,
        operator_id: 'ada',
        reason: 'look',
      },
    });
  });

  it.each<[Command, Partial<ControlRow>]>([
    [
      'pause',
      { state: 'pause_requested', reason: 'look', asked_by: ['bot-2'], expires_at_ms: NOW_MS + 60_000 },
    ],
    ['resume', { state: 'active', reason: null, asked_by: [], expires_at_ms: null }],
    ['terminate', { state: 'terminated', reason: 'enough', asked_by: [], expires_at_ms: null }],
  ])('%s is its operator’s from now on, and leaves nothing of the pause before', (command, changes) => {
    const before = control({
      state: 'expired',
      operator_id: 'system',
      reason: 'earlier',
      asked_by: ['bot-1'],
      since_ms: 1,
      expires_at_ms: 2,
    });
    const decision = decideCommand(before, COMMAND[command], context({ askedBy: 'bot-2' }));
    expect(decision.kind === 'apply' && { ...decision.next, directives: [], directive_seq: 0 }).toEqual({
      ...before,
      operator_id: 'ada',
      since_ms: NOW_MS,
      ...changes,
    });
  });

  it('knows of nobody who asked for a pause that an operator set by hand, nor of any before the first', () => {
    expect(decideCommand(control(), COMMAND.pause, context())).toMatchObject({ next: { asked_by: [] } });
    expect(control()).toEqual({
      tenant_id: 'default',
      session_id: 's-1',
      state: 'active',
      operator_id: null,
      reason: null,
      asked_by: [],
      since_ms: null,
      expires_at_ms: null,
      cooperative: false,
      proxied: false,
      directive_seq: 0,
      directives: [],
    });
  });

  it('counts directives from 1, and takes nobody for listening who has confirmed nothing', () => {
    expect(decideCommand(control(), COMMAND.pause, context())).toMatchObject({
      next: { cooperative: false, directives: [{ seq: 1 }] },
    });
  });

  it('leaves state, operator and expiry alone when it injects into a paused session', () => {
    const paused = control({ state: 'paused', operator_id: 'bob', since_ms: 1, expires_at_ms: 2 });
    expect(decideCommand(paused, COMMAND.inject, context())).toMatchObject({
      next: { state: 'paused', operator_id: 'bob', since_ms: 1, expires_at_ms: 2 },
      directive: { type: 'inject', prompt: 'try the cache' },
    });
  });

  it('refuses to rewrite a message that is not held', () => {
    expect(decideCommand(control({ state: 'paused' }), COMMAND.rewrite, context({ isHeld: false }))).toEqual({
      kind: 'refuse',
      code: 'held_message_not_found',
    });
  });

  it('drops the waiting pause when a resume is issued, but keeps what was injected', () => {
    const before = control({
      state: 'paused',
      directive_seq: 3,
      directives: [directive(2, 'pause'), directive(3, 'inject')],
    });
    const decision = decideCommand(before, COMMAND.resume, context());
    expect(decision.kind === 'apply' && decision.next.directives.map(({ seq, type }) => [seq, type])).toEqual(
      [
        [3, 'inject'],
        [4, 'resume'],
      ],
    );
  });

  it('leaves nothing but the termination to deliver once a session is terminated', () => {
    const before = control({ directive_seq: 2, directives: [directive(1, 'inject'), directive(2, 'pause')] });
    const decision = decideCommand(before, COMMAND.terminate, context());
    expect(decision.kind === 'apply' && decision.next.directives.map(({ type }) => type)).toEqual([
      'terminate',
    ]);
  });

  it('refuses one more injection when the directives are full, and still pauses, resumes and terminates', () => {
    const waiting = Array.from({ length: LIMITS.directivesPerSessionMax - 2 }, (_, index) =>
      directive(index + 1, 'inject'),
    );
    const nearlyFull = control({
      directive_seq: LIMITS.directivesPerSessionMax - 1,
      directives: [...waiting, directive(LIMITS.directivesPerSessionMax - 1, 'resume')],
    });
    const last = decideCommand(nearlyFull, COMMAND.inject, context());
    const full = last.kind === 'apply' ? last.next : nearlyFull;
    expect(full.directives.length).toBe(LIMITS.directivesPerSessionMax);
    for (const [state, command] of [
      ['active', 'inject'],
      ['paused', 'rewrite'],
    ] as const)
      expect(decideCommand({ ...full, state }, COMMAND[command], context())).toEqual({
        kind: 'refuse',
        code: 'too_many_directives',
      });
    const paused = decideCommand(full, COMMAND.pause, context());
    expect(paused.kind === 'apply' && paused.next.directives.length).toBe(LIMITS.directivesPerSessionMax);
    const resumed = paused.kind === 'apply' && decideCommand(paused.next, COMMAND.resume, context());
    expect(resumed && resumed.kind === 'apply' && resumed.next.directives.length).toBe(
      LIMITS.directivesPerSessionMax,
    );
    expect(decideCommand(full, COMMAND.terminate, context()).kind).toBe('apply');
  });
});

describe('decideAcknowledge', () => {
  const requested = control({
    state: 'pause_requested',
    since_ms: 5,
    directive_seq: 3,
    directives: [directive(2, 'pause'), directive(3, 'inject')],
  });

  it('turns a requested pause into a pause when its directive is confirmed', () => {
    expect(decideAcknowledge(requested, { kind: 'taken', upToSeq: 2 })).toMatchObject({
      acknowledged: true,
      next: { state: 'paused', since_ms: 5, cooperative: true, directives: [{ seq: 3 }] },
    });
  });

  it('is not satisfied by a confirmation from before the pause', () => {
    expect(decideAcknowledge(requested, { kind: 'taken', upToSeq: 1 })).toEqual({ kind: 'none' });
  });

  it('keeps directives waiting that were merely shown', () => {
    expect(decideAcknowledge(requested, { kind: 'shown', upToSeq: 3 })).toMatchObject({
      acknowledged: true,
      next: { state: 'paused', directives: [{ seq: 2 }, { seq: 3 }] },
    });
  });

  it('takes directives one by one when they are named', () => {
    expect(decideAcknowledge(requested, { kind: 'taken_ids', directiveIds: ['d-3'] })).toMatchObject({
      acknowledged: false,
      next: { state: 'pause_requested', directives: [{ seq: 2 }] },
    });
  });

  it('accepts any sign of life when the pause was taken from an ingest answer before', () => {
    const informed = control({ state: 'pause_requested', directive_seq: 2 });
    expect(decideAcknowledge(informed, { kind: 'taken', upToSeq: 2 })).toMatchObject({ acknowledged: true });
  });

  it('takes a model that heard guidance for no sign of life', () => {
    const informed = control({
      state: 'pause_requested',
      directive_seq: 2,
      directives: [directive(1, 'inject')],
    });
    expect(decideAcknowledge(informed, { kind: 'taken_ids', directiveIds: ['d-1'] })).toMatchObject({
      acknowledged: false,
      next: { state: 'pause_requested', directives: [] },
    });
  });

  it('takes a pause by its id for acknowledged', () => {
    expect(decideAcknowledge(requested, { kind: 'taken_ids', directiveIds: ['d-2'] })).toMatchObject({
      acknowledged: true,
      next: { state: 'paused', directives: [{ seq: 3 }] },
    });
  });

  it('takes directives of an active session without changing its state', () => {
    const active = control({ directive_seq: 1, directives: [directive(1, 'inject')] });
    expect(decideAcknowledge(active, { kind: 'taken', upToSeq: 1 })).toMatchObject({
      acknowledged: false,
      next: { state: 'active', directives: [] },
    });
  });
});

describe('decideExpiry', () => {
  const paused = control({
    state: 'paused',
    operator_id: 'ada',
    reason: 'look',
    asked_by: ['bot-1'],
    expires_at_ms: 100,
    since_ms: 1,
  });

  it('waits until the pause is due', () => {
    expect(decideExpiry(paused, false, 'resume')).toEqual({ kind: 'none' });
    expect(decideExpiry(paused, true, 'resume')).toEqual({
      kind: 'expire',
      next: { ...paused, state: 'expired', operator_id: 'system', asked_by: [] },
    });
  });

  it('never expires a session that is not paused', () => {
    expect(decideExpiry({ ...paused, state: 'active' }, true, 'resume')).toEqual({ kind: 'none' });
  });

  it('resolves an expired pause as the policy says', () => {
    const expired = { ...paused, state: 'expired' as const };
    expect(decideExpiry(expired, false, 'resume')).toEqual({
      kind: 'resolve',
      command: { command: 'resume' },
    });
    expect(decideExpiry(expired, false, 'terminate')).toMatchObject({
      kind: 'resolve',
      command: { command: 'terminate' },
    });
  });
});

describe('agentStateOf', () => {
  it('shows a requested and an expired pause as a pause', () => {
    expect(CONTROL_STATES.map(agentStateOf)).toEqual(['active', 'paused', 'paused', 'paused', 'terminated']);
  });

  it('shows a pause exactly while messages are held', () => {
    for (const state of CONTROL_STATES) expect(agentStateOf(state) === 'paused').toBe(holdsMessages(state));
  });
});
