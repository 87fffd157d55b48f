import { describe, expect, it } from 'vitest';
import { ALERT_TYPES, type AlertRule, alertRuleBodySchema } from '#contracts';
import {
  describeRule,
  draftOfRule,
  newRule,
  spanText,
  subjectText,
  toRuleBody,
  toRulePatch,
  withType,
} from './rule-form';

describe('the form of an alert rule', () => {
  it.each(ALERT_TYPES)('starts %s with what the gateway takes', (type) => {
    const { body, errors } = toRuleBody(newRule(type, ['ch-1']));
    expect(errors).toEqual({});
    expect(alertRuleBodySchema.safeParse(body).error).toBeUndefined();
  });

  it('turns percent and minutes into shares and seconds, and back', () => {
    const draft = {
      ...newRule('error_rate', []),
      percent: '12.5',
      windowMinutes: '0.5',
      repeatMinutes: '60',
    };
    const { body } = toRuleBody(draft);
    expect(body).toMatchObject({ threshold: 0.125, window_s: 30, cooldown_s: 300, repeat_s: 3_600 });
    expect(draftOfRule(body as AlertRule)).toEqual({ ...draft, agent: '' });
  });

  it('sends of a rule that there is only what was changed: the rest may have been by somebody else', () => {
    const rule = toRuleBody({ ...newRule('error_rate', ['ch-1']), percent: '33.33333' }).body as AlertRule;
    expect(toRulePatch({ ...draftOfRule(rule), name: 'Night watch' }, rule)).toEqual({
      body: { name: 'Night watch' },
      errors: {},
    });
    expect(
      toRulePatch({ ...draftOfRule(rule), channelIds: ['ch-2'], repeatMinutes: '5' }, rule).body,
    ).toEqual({
      add_channel_ids: ['ch-2'],
      remove_channel_ids: ['ch-1'],
      repeat_s: 300,
    });
  });

  it('names what is missing', () => {
    const { errors } = toRuleBody({ ...newRule('budget', []), name: ' ', percent: 'most' });
    expect(Object.keys(errors).sort()).toEqual(['name', 'threshold']);
  });

  it('names what is out of range in the units of the form', () => {
    const draft = {
      ...newRule('error_rate', []),
      percent: '150',
      windowMinutes: '0.1',
      repeatMinutes: '0.5',
    };
    expect(toRuleBody(draft).errors).toEqual({
      threshold: 'From 0 to 100.',
      window_s: 'From 10 s to 30 d.',
      repeat_s: 'From 1 min to 30 d.',
    });
    expect(toRuleBody({ ...draft, cooldownMinutes: '-1' }).errors.cooldown_s).toBe('From 0 s to 30 d.');
  });

  it('renames itself with its type until somebody names it', () => {
    const first = newRule('budget', []);
    expect(withType(first, 'agent_silent')).toMatchObject({ name: 'Agent is silent', windowMinutes: '10' });
    expect(withType({ ...first, name: 'Night watch' }, 'agent_silent').name).toBe('Night watch');
  });

  it('knows by what a rule goes that leaves its numbers open, and sends of them only what was changed', () => {
    const open = { threshold: null, threshold_usd: null, period: null, window_s: null };
    expect(describeRule({ type: 'budget', ...open })).toBe('80 % of a budget is spent');
    expect(describeRule({ type: 'error_rate', ...open })).toBe('50 % of calls fail over 5 min');
    expect(describeRule({ type: 'agent_silent', ...open })).toBe('No call for 10 min');
    for (const type of ALERT_TYPES) {
      const { threshold_usd, ...rest } = toRuleBody(newRule(type, [])).body;
      const rule = { ...rest, ...open, threshold_usd } as AlertRule;
      expect(toRulePatch({ ...draftOfRule(rule), channelIds: ['ch-1'] }, rule), type).toEqual({
        body: { add_channel_ids: ['ch-1'] },
        errors: {},
      });
    }
  });

  it('asks a rule about spending for its amount', () => {
    const draft = { ...newRule('spend', []), usd: '0.5', period: 'day' as const };
    const { body } = toRuleBody(draft);
    expect(body).toMatchObject({ threshold: null, threshold_usd: 0.5, period: 'day', window_s: null });
    expect(draftOfRule(body as AlertRule)).toEqual({ ...draft, agent: '' });
    expect(describeRule(body)).toBe('$0.50 are spent in a day (UTC)');
    for (const usd of ['0', '-1', '1000001'])
      expect(toRuleBody({ ...draft, usd }).errors).toEqual({ threshold_usd: 'Above $0, up to $1,000,000.' });
    expect(toRuleBody({ ...draft, usd: '' }).errors).toEqual({ threshold_usd: 'Enter a number.' });
    expect(toRulePatch({ ...draft, usd: '2' }, body as AlertRule).body).toEqual({ threshold_usd: 2 });
  });

  it('asks a rule about all agents together for no agent', () => {
    const typed = { ...newRule('spend', []), agent: 'bot' };
    const { body } = toRuleBody(withType(typed, 'total_spend'));
    expect(body).toMatchObject({ agent_id: null, threshold_usd: 10, period: 'hour' });
    expect(subjectText(body)).toBe('all agents together');
    expect(toRuleBody(typed).body.agent_id).toBe('bot');
  });

  it('says when a rule fires', () => {
    const open = { threshold: null, threshold_usd: null, period: null, window_s: null };
    expect(describeRule({ ...open, type: 'error_rate', threshold: 0.2, window_s: 300 })).toBe(
      '20 % of calls fail over 5 min',
    );
    expect(describeRule({ ...open, type: 'agent_silent', window_s: 86_400 })).toBe('No call for 24 h');
    expect([45, 90, 7_200, 259_200].map(spanText)).toEqual(['45 s', '1.5 min', '2 h', '3 d']);
  });
});
