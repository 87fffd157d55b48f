/** What others are told of a call as it begins and once it is recorded: alerts, pages, budgets, its session's row, its upstream's health, spans. */
import { ALL_AGENTS, allAgents, type SpanSink, wasRefused } from '#contracts';
import type { Clock } from '#kernel';
import type { AlertMonitor } from '../../alerts/alert-monitor.js';
import type { SessionRegistry } from '../../decision-log/session-registry.js';
import type { ControlDesk } from '../../hitl/control-desk.js';
import { hasBudget } from '../agents/agent-activity.js';
import type { AgentBudgets } from '../agents/agent-budgets.js';
import type { AgentDirectory } from '../agents/agent-directory.js';
import type { AgentViews } from '../agents/agent-views.js';
import { agentAlone, subjectOf } from '../agents/alert-subject.js';
import type { SplitAgents } from '../agents/split-agents.js';
import type { ProxyEvents } from '../proxy-events.js';
import { isError, type RecordParts } from '../steps/record.step.js';
import { type UpstreamHealthBoard, wasFailedByUpstream } from '../upstreams/upstream-health.js';
import { spansOf } from './call-spans.js';

export interface CallNewsParts {
  agents: Pick<AgentDirectory, 'restriction' | 'restrictionOfAll'>;
  alerts: Pick<AlertMonitor, 'note'>;
  budgets: Pick<AgentBudgets, 'note'>;
  clock: Clock;
  desk: Pick<ControlDesk, 'answerFor'>;
  events: Pick<ProxyEvents, 'upstreamTried'>;
  /** Null: nobody collects spans. */
  spans: SpanSink | null;
  split: Pick<SplitAgents, 'noteCall'>;
  upstreamHealth: Pick<UpstreamHealthBoard, 'note'>;
  views: Pick<AgentViews, 'touch'>;
  noteCall: SessionRegistry['noteCall'];
}

/** Both are on every call's path. */
export function callNews(parts: CallNewsParts): Pick<RecordParts, 'onBegan' | 'onEnded'> {
  const { agents, alerts, budgets, clock, desk, events, spans, split, upstreamHealth, views, noteCall } =
    parts;
  return {
    onBegan: (call) => {
      split.noteCall(call.scope);
      views.touch(call.tenantId, call.agentId);
      alerts.note({ kind: 'call_began', ...subjectOf(call), at_ms: clock.nowMs() });
    },
    onEnded: (call, record) => {
      const { tenantId, scope, sessionKey } = call;
      views.touch(tenantId, call.agentId);
      views.touch(tenantId, ALL_AGENTS);
      spans?.export(spansOf(call, record));
      const failed = wasFailedByUpstream(record, call);
      if (failed !== null) {
        const { upstream, agent_id, status, detail } = record;
        const hasOwnKey = call.upstream.apiKey === null;
        upstreamHealth.note({ tenantId, upstream, agent_id, status, detail, failed, hasOwnKey });
        events.upstreamTried(call.upstream, failed);
      }
      const subject = subjectOf(call);
      if (sessionKey !== null)
        noteCall(
          sessionKey,
          call.id,
          wasRefused(record) ? { decision: record.decision, at_ms: clock.nowMs() } : null,
        );
      const terminated = sessionKey !== null && desk.answerFor(sessionKey).state === 'terminated';
      alerts.note({ kind: 'call', ...subject, at_ms: clock.nowMs(), failed: isError(call), terminated });
      if (record.cost_usd === null) return;
      const policy = agents.restriction(scope);
      if (policy !== null && hasBudget(policy)) budgets.note(scope, subject);
      const ofAll = agents.restrictionOfAll(tenantId);
      if (ofAll !== null && hasBudget(ofAll))
        budgets.note(allAgents(tenantId), agentAlone(allAgents(tenantId)));
    },
  };
}
