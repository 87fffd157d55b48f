import { describe, expect, it } from 'vitest';
import { agentPolicyPatchSchema, NO_LIMITS } from '#contracts';
import {
  clockIn,
  describeHours,
  type EditablePolicy,
  editsSince,
  officeHours,
  toPolicyPatch,
} from './policy-form';

const inForce: EditablePolicy = {
  ...NO_LIMITS,
  budget_day_usd: 5,
  requests_per_minute: 60,
  unknown_cost: 'pass',
  semantic_loop: 'alert',
  cache: 'on',
};

describe('toPolicyPatch', () => {
  it('sends only what differs from what is in force', () => {
    const edits = { limits: { budget_day_usd: '5', requests_per_minute: '120', budget_hour_usd: '0.50' } };
    const { patch, errors } = toPolicyPatch(edits, inForce);
    expect(patch).toEqual({ requests_per_minute: 120, budget_hour_usd: 0.5 });
    expect(errors).toEqual({});
    expect(agentPolicyPatchSchema.safeParse(patch).success).toBe(true);
  });

  it('lifts a limit that was emptied', () => {
    expect(toPolicyPatch({ limits: { budget_day_usd: ' ' } }, inForce).patch).toEqual({
      budget_day_usd: null,
    });
  });

  it('reads thousands as people write them, and 5.0 as the 5 that is in force', () => {
    const edits = { limits: { tokens_per_minute: '1,200 000', budget_day_usd: '5.0' } };
    expect(toPolicyPatch(edits, inForce).patch).toEqual({ tokens_per_minute: 1_200_000 });
  });

  it('names what is no number before anything is sent', () => {
    const { patch, errors } = toPolicyPatch(
      { limits: { budget_hour_usd: 'lots', session_calls_max: '2.5' } },
      inForce,
    );
    expect(patch).toEqual({});
    expect(Object.keys(errors)).toEqual(['budget_hour_usd', 'session_calls_max']);
  });

  it('sends what was chosen about semantic loops and the cache, unless it is so already', () => {
    const edits = { limits: {}, unknown_cost: 'refuse', semantic_loop: 'pause', cache: 'on' } as const;
    const patch = toPolicyPatch(edits, inForce).patch;
    expect(patch).toEqual({ unknown_cost: 'refuse', semantic_loop: 'pause' });
    expect(agentPolicyPatchSchema.safeParse(patch).success).toBe(true);
    expect(toPolicyPatch({ limits: {}, cache: 'exact_only' }, inForce).patch).toEqual({
      cache: 'exact_only',
    });
  });

  it('reads models as people list them, sends them whole, and null for any', () => {
    const listed = { ...inForce, allowed_models: ['gpt-5-mini', 'claude-*'] };
    expect(toPolicyPatch({ limits: {}, models: ' gpt-5-mini,\nclaude-* gpt-5-mini' }, inForce).patch).toEqual(
      {
        allowed_models: ['gpt-5-mini', 'claude-*'],
      },
    );
    expect(toPolicyPatch({ limits: {}, models: 'gpt-5-mini claude-*' }, listed).patch).toEqual({});
    expect(toPolicyPatch({ limits: {}, models: ' ' }, listed).patch).toEqual({ allowed_models: null });
    expect(toPolicyPatch({ limits: {}, models: ' ' }, inForce).patch).toEqual({});
  });

  it('sends the hours whole, and null to lift them', () => {
    const hours = officeHours('UTC');
    expect(toPolicyPatch({ limits: {}, hours }, inForce).patch).toEqual({ allowed_hours: hours });
    expect(toPolicyPatch({ limits: {}, hours: null }, { ...inForce, allowed_hours: hours }).patch).toEqual({
      allowed_hours: null,
    });
    expect(
      toPolicyPatch({ limits: {}, hours: { ...hours } }, { ...inForce, allowed_hours: hours }).patch,
    ).toEqual({});
  });
});

describe('editsSince', () => {
  it('keeps what was edited while it was being saved', () => {
    const sent = { limits: { budget_day_usd: '12' }, cache: 'off' as const };
    expect(editsSince(sent, sent)).toEqual({ limits: {} });
    const edits = { limits: { budget_day_usd: '120', budget_month_usd: '9' }, cache: 'on' as const };
    expect(editsSince(edits, sent)).toEqual(edits);
  });
});

describe('describeHours', () => {
  it('says days, times and place', () => {
    expect(describeHours(officeHours('Europe/Zurich'))).toBe('Mon to Fri, 08:00 to 18:00, Europe/Zurich');
    expect(describeHours({ time_zone: 'UTC', days: [7, 6], from: '22:00', to: '06:00' })).toBe(
      'Sat, Sun, 22:00 to 06:00 of the next day, UTC',
    );
    expect(describeHours({ time_zone: 'UTC', days: [1, 2, 3, 4, 5, 6, 7], from: '00:00', to: '12:00' })).toBe(
      'Every day, 00:00 to 12:00, UTC',
    );
    const everyDay = { time_zone: 'UTC', days: [1, 2, 3, 4, 5, 6, 7], from: '08:00', to: '08:00' };
    expect(describeHours(everyDay)).toBe('Every day, 08:00 to 08:00 of the next day, UTC');
    expect(describeHours({ ...everyDay, from: '00:00', to: '00:00' })).toBe('Every day, all day, UTC');
  });
});

describe('clockIn', () => {
  it('reads the clock of a time zone, and bears one that is none', () => {
    expect(clockIn('UTC', Date.UTC(2026, 0, 5, 14, 32))).toBe('Mon 14:32');
    expect(clockIn('Mars/Olympus', 0)).toBeNull();
  });
});
