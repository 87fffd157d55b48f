/** A due notice in words: one line, a few sentences, and where to look. Ids of agents are strangers' text: cleaned. */
import {
  ACKNOWLEDGED_MS_MAX,
  ALL_AGENTS,
  type AlertNotice,
  type AlertType,
  type BudgetPeriod,
} from '#contracts';
import { oneLine } from '#kernel';
import { loopWords, personWords, semanticLoopWords, UNHEARD_SINCE_START } from './loop-words.js';
import type { Hush, NoticeDetail } from './rule-condition.js';
import { agentIdOf } from './rule-defaults.js';
import type { DueNotice } from './tenant-rules.js';

const percent = (share: unknown): string => `${Math.round(Number(share) * 100)} %`;
/** Of less than a cent more is said than that it is nothing. */
const usd = (amount: unknown): string =>
  `$${Number(amount).toFixed(Number(amount) > 0 && Number(amount) < 0.01 ? 4 : 2)}`;

/** The larger unit and, where there is a rest, the smaller: `12 s`, `1 min 7 s`, `12 min`, `1 h 59 min`, `2 days 3 h`. */
export function spokenDuration(seconds: number): string {
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  if (seconds < 599.5) return inTwoUnits(seconds, 60, 'min', 's');
  if (seconds < 3_570) return `${Math.round(seconds / 60)} min`;
  if (seconds < 171_000) return inTwoUnits(seconds / 60, 60, 'h', 'min');
  return inTwoUnits(seconds / 3_600, 24, 'days', 'h');
}

function inTwoUnits(amount: number, perLarge: number, large: string, small: string): string {
  const whole = Math.round(amount);
  const rest = whole % perLarge;
  return `${(whole - rest) / perLarge} ${large}${rest > 0 ? ` ${rest} ${small}` : ''}`;
}

/** Why nobody misses an agent that is silent still. */
const KEPT_SILENT: Record<Exclude<Hush, 'busy'>, string> = {
  killed: 'the kill switch stopped it',
  inactive: 'an operator stopped it',
  outside_hours: 'it is out of its hours',
  paused: 'its session is paused',
  terminated: 'its session was terminated',
};

/** What becomes of an agent if nobody acts. */
const BUDGET_REFUSES =
  'Calls that do not fit are refused until the budget begins anew or an operator raises it.';

const IN_PERIOD: Record<BudgetPeriod, string> = {
  hour: 'in the last hour',
  day: 'today (UTC)',
  month: 'this month (UTC)',
};

/** How long until the first pause expires; null: none does. */
const leftOf = ({ expires_at_ms }: NoticeDetail, atMs: number): string | null =>
  typeof expires_at_ms === 'number' ? spokenDuration(Math.max(0, expires_at_ms - atMs) / 1_000) : null;

const nameOf = (subjectId: string): string =>
  subjectId === ALL_AGENTS ? 'All agents together' : `Agent "${oneLine(subjectId)}"`;

function wordsOf({ rule, agent_id, at_ms, detail }: DueNotice): { on: string; text: string; off: string } {
  const agent = nameOf(agent_id);
  switch (rule.type) {
    case 'kill_switch':
      return {
        on: `${agent} was stopped by the kill switch`,
        text:
          `It repeated itself: score ${detail.score}, allowed up to ${detail.threshold}. ` +
          'Its calls are refused until an operator reactivates it.',
        off: `${agent} was reactivated`,
      };
    case 'entropy_loop':
      return loopWords(agent, detail);
    case 'semantic_loop':
      return semanticLoopWords(agent, detail);
    case 'hitl_required':
      return personWords(agent, detail, leftOf(detail, at_ms));
    case 'budget': {
      const [are, have, their] = agent_id === ALL_AGENTS ? ['are', 'have', 'their'] : ['is', 'has', 'its'];
      const spent = `${usd(detail.spent_usd)} of ${usd(detail.budget_usd)} are spent`;
      const isSpent = Number(detail.share) >= 1;
      const off = `${agent} ${are} within ${their} budget again`;
      if (detail.period === undefined)
        return {
          on: `${agent} ${are} near the end of ${their} budget or beyond it`,
          text: UNHEARD_SINCE_START,
          off,
        };
      if (detail.refused === true)
        return {
          on: `${agent} ${are} refused calls by ${their} budget for the ${detail.period}`,
          text: `${spent}${isSpent ? '' : '; the rest did not cover what a call might cost'}. ${BUDGET_REFUSES}`,
          off,
        };
      return {
        on: `${agent} ${have} spent ${percent(detail.share)} of ${their} budget for the ${detail.period}`,
        text: isSpent
          ? `${spent}. ${BUDGET_REFUSES}`
          : `${spent}; this rule speaks from ${percent(detail.threshold)}.`,
        off,
      };
    }
    case 'spend':
    case 'total_spend': {
      const isTotal = rule.type === 'total_spend';
      const spent = `${agent} ${isTotal ? 'have' : 'has'} spent`;
      const within = IN_PERIOD[detail.period as BudgetPeriod];
      return {
        on: `${spent} ${usd(detail.spent_usd)} ${within}`,
        text:
          `This rule speaks from ${usd(detail.threshold_usd)} and stops nothing: ` +
          (isTotal
            ? 'the page Spend says which agents and models it was. An operator can stop them, and a budget of all agents refuses what goes beyond it.'
            : 'an operator can stop the agent, and a budget refuses what goes beyond it.'),
        off: `${spent} less than ${usd(detail.threshold_usd)} ${within} again`,
      };
    }
    case 'error_rate': {
      const callsOf = `calls of ${agent.replace('Agent', 'agent')}`;
      const off = `The ${callsOf} succeed again`;
      if (detail.share === undefined)
        return { on: `Too many ${callsOf} fail`, text: UNHEARD_SINCE_START, off };
      return {
        on: `${percent(detail.share)} of the ${callsOf} fail`,
        text:
          `${detail.failure_count} of its ${detail.call_count} calls in the last ` +
          `${spokenDuration(Number(detail.window_s))} failed; this rule speaks from ${percent(detail.threshold)}.`,
        off,
      };
    }
    case 'agent_silent':
      return {
        on:
          detail.silent_s === undefined
            ? `${agent} is silent`
            : `${agent} has been silent for ${spokenDuration(Number(detail.silent_s))}`,
        text: 'It neither called a model nor reported a step.',
        off:
          detail.kept_silent_by === undefined
            ? `${agent} is heard of again`
            : `${agent} is not missed any more: ${KEPT_SILENT[detail.kept_silent_by as Exclude<Hush, 'busy'>]}`,
      };
  }
}

const unwatchedWords = (agentId: string, ago: string) => ({
  title: `${nameOf(agentId)} ${agentId === ALL_AGENTS ? 'are' : 'is'} not watched by this rule any more`,
  text:
    'The rule was removed, switched off or made one about another agent. ' +
    `Whether what it told of ${ago} ago goes on is not known.`,
});

const inHandWords = (agentId: string, by: string, lasted: string) => ({
  title: `${by} has this in hand: ${nameOf(agentId)}`,
  text:
    `It has lasted ${lasted}, and is not repeated until it is handed back, for ${spokenDuration(ACKNOWLEDGED_MS_MAX / 1_000)} at most. ` +
    'What is new about it is told, and its end.',
});

export interface NoticeContext {
  noticeId: string;
  /** Origin of the dashboard; null when unknown. */
  publicUrl: string | null;
}

export function noticeOf(due: DueNotice, { noticeId, publicUrl }: NoticeContext): AlertNotice {
  const { rule, phase, tenant_id, agent_id, session_id, at_ms, since_ms, detail } = due;
  return {
    notice_id: noticeId,
    type: rule.type,
    phase,
    rule_id: rule.rule_id,
    rule_name: rule.name,
    tenant_id,
    agent_id: agentIdOf(agent_id),
    session_id,
    at_ms,
    ...saidOf(due),
    url: publicUrl === null ? null : pageOf(publicUrl, due),
    detail: { ...detail, since_ms },
  };
}

function saidOf(due: DueNotice): Pick<AlertNotice, 'title' | 'text'> {
  const { phase, agent_id, at_ms, since_ms, detail } = due;
  const lasted = spokenDuration(Math.max(0, at_ms - since_ms) / 1_000);
  if (phase === 'acknowledged') return inHandWords(agent_id, oneLine(String(detail.acknowledged_by)), lasted);
  const { on, text, off } = wordsOf(due);
  if (phase === 'repeat') return { title: `Still: ${on}`, text: `${text} It has lasted ${lasted}.` };
  if (phase === 'firing') return { title: on, text };
  return detail.watch_ended ? unwatchedWords(agent_id, lasted) : { title: off, text: `It lasted ${lasted}.` };
}

/** Their notices lead to the session. */
const OF_SESSIONS: ReadonlySet<AlertType> = new Set(['entropy_loop', 'semantic_loop', 'hitl_required']);

function pageOf(publicUrl: string, { rule, agent_id, session_id, detail }: DueNotice): string {
  if (typeof detail.incident_id === 'string')
    return `${publicUrl}/incidents/${encodeURIComponent(detail.incident_id)}`;
  if (OF_SESSIONS.has(rule.type) && session_id !== null)
    return `${publicUrl}/sessions/${encodeURIComponent(session_id)}`;
  if (agent_id === ALL_AGENTS) return `${publicUrl}/${rule.type === 'budget' ? 'all-agents' : 'spend'}`;
  return `${publicUrl}/agents/${encodeURIComponent(agent_id)}`;
}

/** What "send test" delivers. */
export function testNotice(
  context: NoticeContext & { tenantId: string; channelName: string; by: string; atMs: number },
): AlertNotice {
  return {
    notice_id: context.noticeId,
    type: 'kill_switch',
    phase: 'test',
    rule_id: null,
    rule_name: 'Test',
    tenant_id: context.tenantId,
    agent_id: 'no-agent',
    session_id: null,
    at_ms: context.atMs,
    title: `Test of the alert channel "${oneLine(context.channelName)}"`,
    text: `${oneLine(context.by)} asked for it. Nothing happened to any agent; alerts will arrive like this.`,
    url: context.publicUrl === null ? null : `${context.publicUrl}/alerts`,
    detail: {},
  };
}
