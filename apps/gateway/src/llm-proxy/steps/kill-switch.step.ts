/**
 * Step 5: stops an agent that repeats itself, before this call costs anything. Decides on the requests before this one;
 * what the upstream answers is noted when the call settles.
 */
import type { Incident, IncidentEvidence, KillSwitchSettings, ScoreBreakdown } from '#contracts';
import type { KillSwitchWindows } from '#domain/kill-switch';
import type { IdSource } from '#kernel';
import type { GatewayConfig } from '../../config/config.js';
import { digestOf } from '../../semantic-loop/loop-check.js';
import type { AgentDirectory } from '../agents/agent-directory.js';
import type { IncidentDesk } from '../agents/incident-desk.js';
import { windowKey } from '../agents/window-key.js';
import type { ProxyCall, Verdict } from '../proxy-call.js';
import { wordsSince } from '../requests/words-since.js';
import { systemOf } from '../sessions/session-of-call.js';
import type { Step } from '../step.js';

export type KillResponse = GatewayConfig['killResponse'];

export interface KillSwitchParts {
  agents: Pick<AgentDirectory, 'killSwitch'>;
  windows: KillSwitchWindows;
  incidents: Pick<IncidentDesk, 'open'>;
  ids: IdSource;
  killResponse: KillResponse;
}

export const killSwitchStep = (parts: KillSwitchParts): Step => ({
  name: 'kill_switch',
  onFailure: 'open',
  readsAll: true,
  run(call: ProxyCall): Promise<Verdict> | undefined {
    if (call.request === null || call.sessionId === null) return undefined;
    const settings = parts.agents.killSwitch(call.scope);
    if (!settings.enabled) return undefined;
    call.windowKey = windowKey(call, settings);
    // An operator has looked, and says how to go on: that is heard before anything is counted again.
    if (call.takenDirectiveIds.length > 0) parts.windows.forget(call.windowKey);
    const decision = parts.windows.observe(call.windowKey, settings, {
      call_id: call.id,
      at_ms: call.startedAtMs,
      request: call.request,
      is_retry: call.isRetry,
      role: roleOf(call),
      wordsSince: (messageCount) => wordsSince(call.parsedBody(), messageCount),
    });
    call.killScore = decision.breakdown.score;
    if (decision.kind === 'forward') return undefined;
    const kept = parts.incidents.open(call.tenantId, incidentOf(call, settings, decision, parts.ids));
    // Its caller is told that it is stopped: a gateway that dies right behind that starts with it stopped.
    return kept.then(() => verdict(parts.killResponse, decision.breakdown.score, settings.threshold));
  },
  settle(call: ProxyCall): void {
    if (call.windowKey === null) return;
    // What never got an answer is no repetition: a client that tries again after a failure does the right thing.
    if (call.wasHeard && call.answer !== null && !isReplayToAnybody(call) && !isWarmed(call))
      parts.windows.recordAnswer(call.windowKey, call.id, call.answer);
    else parts.windows.drop(call.windowKey, call.id);
  },
});

/** Of a session that nobody named its system prompt is a part. */
const roleOf = ({ isSessionInferred, sessionId, request }: ProxyCall): string =>
  isSessionInferred ? (sessionId ?? '') : digestOf(systemOf(request?.system_text ?? ''));

/**
 * Nobody named the session: its calls may be those of many users who open with the same words, and the cache, not the
 * model, gives them all one answer. In a session that was named it is one agent that asks again, whoever answers.
 */
const isReplayToAnybody = ({ cache, isSessionInferred }: ProxyCall): boolean =>
  cache !== null && isSessionInferred;

/** Services have the same prompt warmed up again and again, and ask nothing by that. What is answered all the same was asked. */
const isWarmed = ({ summary, answer }: ProxyCall): boolean =>
  summary?.onlyWarms === true && answer?.text === '' && answer.tool_calls.length === 0;

const incidentOf = (
  call: ProxyCall,
  settings: KillSwitchSettings,
  { breakdown, evidence }: { breakdown: ScoreBreakdown; evidence: IncidentEvidence[] },
  ids: IdSource,
): Incident => ({
  incident_id: `inc_${ids.next()}`,
  seq: 0,
  agent_id: call.agentId,
  session_id: call.sessionId ?? '',
  upstream: call.upstream.name,
  model: call.summary?.model ?? null,
  at_ms: call.startedAtMs,
  breakdown,
  threshold: settings.threshold,
  window_size: settings.window_size,
  evidence,
  reactivated_by: null,
  reactivated_at_ms: null,
});

function verdict(response: KillResponse, score: number, threshold: number): Verdict {
  const detail = `Kill switch: score ${score} is above ${threshold}.`;
  if (response === 'error')
    return { kind: 'refuse', decision: 'killed', code: 'agent_killed', detail: STOPPED, shouldRetry: false };
  return { kind: 'message', decision: 'killed', text: STOPPED, detail };
}

/** Read by the model's client, and perhaps by the next model: says what happened and what not to do. */
const STOPPED =
  'This agent was stopped by Observatory: it kept repeating itself without progress. The request was not sent to the ' +
  'model. Do not retry; an operator has been told and can reactivate the agent.';
