import { describe, expect, it } from 'vitest';
import type { ControlView } from '#contracts';
import {
  askText,
  expiryText,
  reasonText,
  rewriteDenial,
  standingText,
  waitsForPerson,
} from './control-texts';

describe('a pause that nobody ends', () => {
  it('says what becomes of the session, where that is known', () => {
    expect(expiryText(125_000, 'resume')).toBe(
      'Unless you act, the pause expires in 3 min and the session goes on.',
    );
    expect(expiryText(125_000, 'terminate')).toContain('the session is terminated');
    expect(expiryText(125_000)).toBe('The pause expires in 3 min unless you act.');
  });

  it('counts seconds in its last minute, when they are what decides', () => {
    expect(expiryText(60_001)).toContain('in 2 min');
    expect(expiryText(60_000)).toContain('in 60 s');
    expect(expiryText(59_001)).toContain('in 60 s');
    expect(expiryText(1)).toContain('in 1 s');
    expect(expiryText(-1)).toContain('in 0 s');
  });
});

describe('the reason of a pause', () => {
  it('is in words where the gateway wrote a code, and as it was written otherwise', () => {
    expect(reasonText('hitl_required')).toBe('the agent asks for a person');
    expect(reasonText('It loops')).toBe('It loops');
    expect(reasonText('constructor')).toBe('constructor');
  });

  it('is nothing where the page says who did what, and nobody said why', () => {
    expect(reasonText('Terminated by an operator')).toBeNull();
    expect(reasonText(null)).toBeNull();
  });
});

describe('waiting for a person', () => {
  const waits = (state: string, operator_id: string | null, asked_by: string[] = []) =>
    waitsForPerson({ state, operator_id, asked_by } as Parameters<typeof waitsForPerson>[0]);

  it('is a pause that no operator commanded, as long as it lasts', () => {
    expect(['pause_requested', 'paused'].map((state) => waits(state, 'system'))).toEqual([true, true]);
    expect(['active', 'expired', 'terminated'].some((state) => waits(state, 'system'))).toBe(false);
    expect(waits('paused', 'ana')).toBe(false);
  });

  it('is one that an operator commanded, too, once an agent asks in it, and says which', () => {
    expect(waits('paused', 'ana', ['clerk'])).toBe(true);
    expect(askText({ reason: 'to look', asked_by: ['clerk'] })).toBe('clerk asks for a person');
    expect(askText({ reason: 'to look', asked_by: ['clerk', 'planner'] })).toBe('2 agents ask for a person');
    expect(askText({ reason: 'to look', asked_by: [] })).toBeNull();
    expect(askText({ reason: 'hitl_required', asked_by: ['clerk'] })).toBeNull();
  });
});

describe('what is true of a session now', () => {
  const standing = (state: string, ended: boolean, stoppedText: string | null) =>
    standingText({ state, mode: 'enforced', held_count: 0 } as ControlView, { ended, stoppedText });

  it('is that it runs only while it is not over and its agent may call', () => {
    expect(standing('active', false, null)).toBe('Running. Nothing is held.');
    expect(standing('active', true, 'Its agent is stopped.')).toBe(
      'It is over: its agent said so. Nothing is held.',
    );
    expect(standing('active', false, 'Its agent is stopped.')).toBe('Its agent is stopped.');
  });

  it('is a pause or a termination before either', () => {
    expect(standing('paused', true, 'Its agent is stopped.')).toBe(
      'The agent has stopped and waits for you.',
    );
    expect(standing('terminated', true, 'Its agent is stopped.')).toBe(
      'Ended for good. This cannot be undone.',
    );
  });
});

it('says of a held step of a proxied call, which was answered before, why it cannot be rewritten', () => {
  expect(rewriteDenial('observatory-proxy')).toContain('answered');
  for (const source of ['crew', '', undefined]) expect(rewriteDenial(source)).toBeNull();
});
