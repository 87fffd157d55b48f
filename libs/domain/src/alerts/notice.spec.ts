import { describe, expect, it } from 'vitest';
import { ALERT_TYPES, ALL_AGENTS, type AlertType, alertNoticeSchema } from '#contracts';
import { oneLine } from '#kernel';
import { LOOPING_SESSIONS_PER_AGENT_MAX } from './looping-sessions.js';
import { mailOf, slackBody } from './message-bodies.js';
import { noticeOf, spokenDuration, testNotice } from './notice.js';
import { defaultRules, type RuleSettings } from './rule-defaults.js';
import type { DueNotice } from './tenant-rules.js';

const AT = Date.UTC(2026, 0, 15, 12);
const DETAILS: Record<AlertType, DueNotice['detail']> = {
  kill_switch: { incident_id: 'inc-1', score: 13, threshold: 10 },
  entropy_loop: { loop_session_count: 1, new_session_count: 1, newest_session_ids: ['s 1'] },
  semantic_loop: {
    similarity: 0.97,
    threshold: 0.95,
    occurrence: 2,
    paused: false,
    window_s: 600,
    loop_session_count: 1,
    new_session_count: 1,
    newest_session_ids: ['s 1'],
  },
  hitl_required: { waiting_session_count: 1, new_session_count: 1, newest_session_ids: ['s 1'] },
  budget: { period: 'day', spent_usd: 8.5, budget_usd: 10, share: 0.85, threshold: 0.8, refused: false },
  spend: { period: 'hour', spent_usd: 12.5, threshold_usd: 10 },
  total_spend: { period: 'month', spent_usd: 1200, threshold_usd: 1000 },
  error_rate: { share: 0.6, threshold: 0.5, call_count: 20, failure_count: 12, window_s: 300 },
  agent_silent: { silent_s: 720, window_s: 600, last_seen_ms: AT - 720_000 },
};

function due(type: AlertType, changes: Partial<DueNotice> = {}): DueNotice {
  const rule = { ...(defaultRules('system')[0] as RuleSettings), type, name: 'My rule' };
  return {
    rule,
    phase: 'firing',
    tenant_id: 'default',
    agent_id: type === 'total_spend' ? ALL_AGENTS : 'crawler',
    session_id: 's 1',
    at_ms: AT,
    since_ms: AT - 600_000,
    detail: DETAILS[type],
    ...changes,
  };
}
const context = { noticeId: 'n1', publicUrl: 'https://ops.example.org' };

describe('a notice', () => {
  it.each(ALERT_TYPES)('of type %s fits the contract in every phase, and says which agent', (type) => {
    for (const phase of ['firing', 'repeat', 'recovered'] as const) {
      const notice = noticeOf(due(type, { phase }), context);
      expect(alertNoticeSchema.parse(notice)).toEqual(notice);
      expect(notice.title).toContain(type === 'total_spend' ? 'll agents together' : '"crawler"');
      expect(`${notice.title} ${notice.text}`).not.toMatch(/undefined|NaN|null/);
    }
  });

  it.each(ALERT_TYPES)('of type %s says who has it in hand', (type) => {
    const detail = { acknowledged_by: 'ana\nlee' };
    const notice = noticeOf(due(type, { phase: 'acknowledged', detail }), context);
    expect(alertNoticeSchema.parse(notice)).toEqual(notice);
    expect(notice.title).toBe(
      `ana lee has this in hand: ${type === 'total_spend' ? 'All agents together' : 'Agent "crawler"'}`,
    );
    expect(notice.text).toBe(
      'It has lasted 10 min, and is not repeated until it is handed back, for 8 h at most. ' +
        'What is new about it is told, and its end.',
    );
  });

  it('gives the figures', () => {
    expect(noticeOf(due('hitl_required'), context)).toMatchObject({
      title: 'Agent "crawler" waits for a person',
      text: 'Session "s 1" waits for a person. What it sends is held until somebody resumes or ends it.',
      url: 'https://ops.example.org/sessions/s%201',
    });
    const expiring = { ...DETAILS.hitl_required, expires_at_ms: AT + 1_800_000, on_expiry: 'resume' };
    expect(noticeOf(due('hitl_required', { detail: expiring }), context).text).toBe(
      'Session "s 1" waits for a person. What it sends is held until somebody resumes or ends it. ' +
        'Unless somebody does, its pause expires in 30 min and the session goes on.',
    );
    const two = { ...expiring, waiting_session_count: 2, newest_session_ids: ['s 1', 's 0'] };
    const ending = { ...two, new_session_count: 2, on_expiry: 'terminate' };
    expect(noticeOf(due('hitl_required', { detail: ending }), context).text).toMatch(
      / Unless somebody does, the first of their pauses expires in 30 min and that session is terminated\.$/,
    );
    expect(noticeOf(due('budget'), context)).toMatchObject({
      title: 'Agent "crawler" has spent 85 % of its budget for the day',
      text: '$8.50 of $10.00 are spent; this rule speaks from 80 %.',
    });
    const refused = { ...DETAILS.budget, spent_usd: 3, share: 0.3, refused: true };
    expect(noticeOf(due('budget', { detail: refused }), context)).toMatchObject({
      title: 'Agent "crawler" is refused calls by its budget for the day',
      text:
        '$3.00 of $10.00 are spent; the rest did not cover what a call might cost. ' +
        'Calls that do not fit are refused until the budget begins anew or an operator raises it.',
    });
    const over = { ...DETAILS.budget, spent_usd: 10.9, share: 1.09 };
    expect(noticeOf(due('budget', { detail: over }), context).text).toBe(
      '$10.90 of $10.00 are spent. ' +
        'Calls that do not fit are refused until the budget begins anew or an operator raises it.',
    );
    expect(noticeOf(due('budget', { detail: { ...over, refused: true } }), context).text).toMatch(
      /^\$10\.90 of \$10\.00 are spent\. Calls/,
    );
    expect(noticeOf(due('spend'), context)).toMatchObject({
      title: 'Agent "crawler" has spent $12.50 in the last hour',
      text:
        'This rule speaks from $10.00 and stops nothing: an operator can stop the agent, ' +
        'and a budget refuses what goes beyond it.',
      url: 'https://ops.example.org/agents/crawler',
    });
    const today = { ...DETAILS.spend, period: 'day', spent_usd: 0 };
    expect(noticeOf(due('spend', { phase: 'recovered', detail: today }), context).title).toBe(
      'Agent "crawler" has spent less than $10.00 today (UTC) again',
    );
    expect(noticeOf(due('total_spend'), context)).toMatchObject({
      agent_id: null,
      title: 'All agents together have spent $1200.00 this month (UTC)',
      url: 'https://ops.example.org/spend',
    });
    expect(
      noticeOf(due('total_spend', { detail: { watch_ended: true }, phase: 'recovered' }), context).title,
    ).toBe('All agents together are not watched by this rule any more');
    expect(mailOf(noticeOf(due('total_spend'), context)).text).toContain('Agent:   all together');
    const small = { ...DETAILS.budget, spent_usd: 0.0042, budget_usd: 0.005 };
    expect(noticeOf(due('budget', { detail: small }), context).text).toMatch(/^\$0\.0042 of \$0\.0050 are/);
    expect(noticeOf(due('agent_silent', { phase: 'repeat' }), context).title).toBe(
      'Still: Agent "crawler" has been silent for 12 min',
    );
    const keptBy = (kept_silent_by: string) =>
      noticeOf(due('agent_silent', { phase: 'recovered', detail: { kept_silent_by } }), context);
    expect(keptBy('paused')).toMatchObject({
      title: 'Agent "crawler" is not missed any more: its session is paused',
      text: 'It lasted 10 min.',
    });
    expect(keptBy('inactive').title).toMatch(/any more: an operator stopped it$/);
    expect(keptBy('outside_hours').title).toMatch(/any more: it is out of its hours$/);
    expect(noticeOf(due('semantic_loop'), context)).toMatchObject({
      title: 'Agent "crawler" asks the same again',
      text: 'Loop 2 of this session: similarity 0.97, a loop above 0.95. The session goes on.',
    });
    const paused = { ...DETAILS.semantic_loop, paused: true };
    expect(noticeOf(due('semantic_loop', { detail: paused }), context).text).toContain('is paused');
    expect(noticeOf(due('semantic_loop', { detail: {} }), context).text).toContain('before this gateway');
    expect(noticeOf(due('kill_switch', { phase: 'recovered' }), context).text).toBe('It lasted 10 min.');
  });

  it.each(['budget', 'error_rate', 'agent_silent', 'semantic_loop'] as const)(
    'of type %s that a restart found firing makes up no figures',
    (type) => {
      const { title, text } = noticeOf(due(type, { phase: 'repeat', detail: {} }), context);
      expect(`${title} ${text}`).not.toMatch(/undefined|NaN|null/);
      expect(title).toMatch(/^Still: .*agent "crawler"/i);
    },
  );

  it('names the sessions that loop, and those of which nobody heard first', () => {
    const ids = ['s9', 's8', 's7', 's6', 's5'];
    const loops = (count: number, newCount: number, changes: Partial<DueNotice> = {}) => {
      const newest_session_ids = ids.slice(0, count);
      const detail = { loop_session_count: count, new_session_count: newCount, newest_session_ids };
      return noticeOf(due('entropy_loop', { detail, ...changes }), context);
    };
    expect(loops(1, 1)).toMatchObject({
      title: 'Agent "crawler" is going round in circles',
      text: 'Session "s9" repeats the same steps.',
    });
    expect(loops(2, 1)).toMatchObject({
      title: 'Agent "crawler" is going round in circles in another session',
      text: 'Session "s9" repeats the same steps. In all, 2 of its sessions do.',
    });
    expect(loops(5, 3)).toMatchObject({
      title: 'Agent "crawler" is going round in circles in 3 more sessions',
      text: 'Sessions "s9", "s8" and "s7" repeat the same steps. In all, 5 of its sessions do.',
    });
    expect(loops(50, 48)).toMatchObject({
      title: 'Agent "crawler" is going round in circles in 48 more sessions',
      text: '48 sessions repeat the same steps, the newest are "s9", "s8", "s7", "s6" and "s5". In all, 50 of its sessions do.',
    });
    expect(loops(3, 3).text).toBe('Sessions "s9", "s8" and "s7" repeat the same steps.');
    expect(loops(2, 0, { phase: 'repeat' })).toMatchObject({
      title: 'Still: Agent "crawler" is going round in circles',
      text: 'Sessions "s9" and "s8" repeat the same steps. It has lasted 10 min.',
    });
    const full = LOOPING_SESSIONS_PER_AGENT_MAX;
    expect(loops(full, 1).text).toContain('In all, at least 100 of its sessions do.');
    expect(loops(full, 0, { phase: 'repeat' }).text).toMatch(/^At least 100 sessions repeat/);
  });

  it('names the sessions that ask the same again, with the figures of the newest', () => {
    const several = {
      ...DETAILS.semantic_loop,
      loop_session_count: 3,
      new_session_count: 2,
      newest_session_ids: ['s3', 's2', 's1'],
    };
    expect(noticeOf(due('semantic_loop', { detail: several }), context)).toMatchObject({
      title: 'Agent "crawler" asks the same again in 2 more sessions',
      text:
        'Sessions "s3" and "s2" ask the same again. In all, 3 of its sessions do. ' +
        'Loop 2 of the newest: similarity 0.97, a loop above 0.95. The session goes on.',
    });
  });

  it('leads to the page where one can look', () => {
    const url = (type: AlertType) => noticeOf(due(type), context).url;
    expect(url('kill_switch')).toBe('https://ops.example.org/incidents/inc-1');
    expect(url('entropy_loop')).toBe('https://ops.example.org/sessions/s%201');
    expect(url('semantic_loop')).toBe('https://ops.example.org/sessions/s%201');
    expect(url('budget')).toBe('https://ops.example.org/agents/crawler');
    expect(noticeOf(due('budget'), { ...context, publicUrl: null }).url).toBeNull();
  });

  it('is one line even where an agent names itself in two', () => {
    const { title } = noticeOf(due('entropy_loop', { agent_id: 'a\r\nBcc: x@y.z\u202e\u0007' }), context);
    expect(title).toBe('Agent "a Bcc: x@y.z " is going round in circles');
    expect(oneLine('x'.repeat(500))).toHaveLength(120);
  });

  it('speaks of durations as people do', () => {
    expect([30, 600, 7_200, 172_800].map(spokenDuration)).toEqual(['30 s', '10 min', '2 h', '2 days']);
    expect([59.4, 59.6, 67, 119.6, 599.7, 3_569, 3_571].map(spokenDuration)).toEqual([
      '59 s',
      '1 min',
      '1 min 7 s',
      '2 min',
      '10 min',
      '59 min',
      '1 h',
    ]);
    expect([7_140, 86_400, 170_000, 171_000, 200_000].map(spokenDuration)).toEqual([
      '1 h 59 min',
      '24 h',
      '47 h 13 min',
      '2 days',
      '2 days 8 h',
    ]);
  });
});

describe('the body for a chat', () => {
  it('is text with what is markup made plain, and a link', () => {
    const notice = noticeOf(due('entropy_loop', { agent_id: '<!channel> & @all' }), context);
    const { text } = slackBody(notice);
    expect(text).toContain('&lt;!channel&gt; &amp; @\u200ball');
    expect(text).toContain('<https://ops.example.org/sessions/s%201|Open in Observatory>');
  });

  it('says which rule speaks of which tenant, and as of when: it may arrive hours later', () => {
    const notice = {
      ...noticeOf(due('kill_switch'), context),
      rule_name: 'Mine\n<!here>',
      tenant_id: 'acme',
    };
    expect(slackBody(notice).text.split('\n')[2]).toBe('Mine &lt;!here&gt;, acme, 2026-01-15T12:00:00.000Z');
  });

  it('hides no address behind words, and fetches no picture, where a compatible server reads Markdown', () => {
    const agent_id = '[log in](https://evil.example) ![](https://evil.example/p.png) [a][b]';
    const { text } = slackBody(noticeOf(due('kill_switch', { agent_id }), context));
    expect(text).toContain('log in');
    expect(text).not.toMatch(/\][([]/);
  });
});

describe('the mail', () => {
  it('has a subject of one line, and what one needs to know', () => {
    const { subject, text } = mailOf(noticeOf(due('kill_switch', { agent_id: 'a\nb' }), context));
    expect(subject).toBe('[Observatory] Agent "a b" was stopped by the kill switch');
    expect(text).toContain('Session: s 1');
    expect(text).toContain('2026-01-15T12:00:00.000Z');
    expect(text).toContain('https://ops.example.org/incidents/inc-1');
  });

  it('of a test says that it is one', () => {
    const test = { tenantId: 'default', channelName: 'On call', by: 'ada', atMs: AT };
    const notice = testNotice({ ...context, ...test });
    expect(alertNoticeSchema.parse(notice)).toEqual(notice);
    expect(mailOf(notice).subject).toBe('[Observatory] Test of the alert channel "On call"');
  });
});
