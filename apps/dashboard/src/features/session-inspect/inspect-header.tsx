/** What session this is, how it is, and who has it in hand: readable within a second. */
import { type AgentView, isStoppedState, type SessionView } from '#contracts';
import { IdHeading } from '../../app/id-heading';
import { useLoopsNow } from '../../app/looping';
import {
  Badge,
  cx,
  FactInLine,
  formatCount,
  formatPartialCost,
  plural,
  RelativeTime,
  StateDot,
  StepRate,
  withUnseen,
} from '../../ui';
import { LatestRefusal } from '../agents/latest-refusal';
import { isKilled } from '../agents/select-agents';
import { SplitNote } from '../agents/split-agent';
import { StoppedBy } from '../agents/stopped-by';
import { AgentAlerts } from '../alerts/agent-alerts';
import { ControlBadge, ModeLabel } from '../hitl-console/control-badge';
import { askText, isUnheardPause, MODE_TEXTS, reasonText, STATE_LABELS } from '../hitl-console/control-texts';
import { dotState, LOOP_REST_LABELS, restOf, stoppedAgentOf } from '../session-clusters/rest';
import { RestBadge } from '../session-clusters/rest-badge';
import { SeverityBadge } from '../session-clusters/severity-badge';
import { usePolicies } from '../session-clusters/use-policies';

export function InspectHeader({ session }: { session: SessionView }) {
  const { control } = session;
  const policies = usePolicies();
  const isReworded = useLoopsNow().get(session.session_id)?.kind === 'words';
  const rest = restOf(session, policies);
  const agent = policies.agents.get(session.agent_id);
  const stopped = stoppedAgentOf(session, policies);
  return (
    <header
      className={cx(
        'flex flex-col gap-2 border-line border-b bg-surface px-4 py-3',
        isStoppedState(control.state) && !isUnheardPause(control) && 'border-t-2 border-t-paused-solid',
        control.state === 'terminated' && 'border-t-2 border-t-faint',
      )}
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <IdHeading to="/" listName="sessions" id={session.session_id} charsMax={36} kind="session id" />
        <StateDot
          state={isReworded ? 'alert_entropy' : dotState(session.state, rest, session.control)}
          rest={rest === null ? undefined : LOOP_REST_LABELS[rest]}
          withLabel={session.severity === 'normal' && !isReworded && !session.ended && rest === null}
          className="text-muted"
        />
        <SeverityBadge
          severity={session.severity}
          rests={session.ended || rest !== null}
          isReworded={isReworded}
        />
        {/* Who holds it says the badge of its control. */}
        {rest !== null && rest !== 'held' && !session.ended ? (
          <RestBadge rest={rest} session={session} />
        ) : null}
        <Standing session={session} isAgentStopped={stopped !== null} />
        <span title={MODE_TEXTS[control.mode]}>
          <ModeLabel mode={control.mode} />
        </span>
      </div>
      <HeldBy session={session} />
      {stopped !== null && agent ? <WhyStopped agent={agent} /> : null}
      {agent && !session.ended ? <SplitNote agent={agent} namesAgent /> : null}
      <AgentAlerts agentId={session.agent_id} />
      <dl className="flex flex-wrap gap-x-6 gap-y-1 text-xs">
        <FactInLine name="Agent">
          <bdi>{withUnseen(session.agent_id)}</bdi> <bdi className="text-muted">{session.agent_type}</bdi>
        </FactInLine>
        {session.model_name ? <FactInLine name="Model">{session.model_name}</FactInLine> : null}
        {session.cluster_id ? <FactInLine name="Cluster">{session.cluster_id}</FactInLine> : null}
        <FactInLine name="Steps">
          {formatCount(session.step_count)}
          {session.failure_count > 0 ? (
            <span className="text-danger"> ({formatCount(session.failure_count)} failed)</span>
          ) : null}
        </FactInLine>
        <FactInLine name="Steps/min">
          <StepRate perMinute={session.steps_per_minute} lastSeenMs={session.last_seen_ms} />
        </FactInLine>
        <FactInLine name="Cost">{formatPartialCost(session.cost_usd, session.cost_unknown)}</FactInLine>
        <FactInLine name="Tokens">{formatCount(session.tokens)}</FactInLine>
        {control.held_count > 0 ? (
          <FactInLine name="Held">
            <span className="text-paused">{plural(control.held_count, 'message')}</span>, not counted here yet
          </FactInLine>
        ) : null}
        <FactInLine name="Started">
          <RelativeTime atMs={session.started_ms} />
        </FactInLine>
        <FactInLine name="Last seen">
          <RelativeTime atMs={session.last_seen_ms} />
        </FactInLine>
      </dl>
    </header>
  );
}

/** Who has it in hand; of what nobody holds that it runs, unless it is over or, as the badge before says, its agent is stopped. */
function Standing({ session, isAgentStopped }: { session: SessionView; isAgentStopped: boolean }) {
  const isFree = session.control.state === 'active';
  if (isFree && session.ended) return <Badge data-testid="control-state">Ended</Badge>;
  if (isFree && isAgentStopped) return null;
  return <ControlBadge control={session.control} data-testid="control-state" />;
}

function WhyStopped({ agent }: { agent: AgentView }) {
  if (agent.policy.active) return <LatestRefusal agent={agent} namesAgent />;
  return (
    <p data-testid="agent-stopped" className={isKilled(agent) ? 'text-danger' : 'text-muted'}>
      <StoppedBy agent={agent} namesAgent />
    </p>
  );
}

/** "Paused by ana, 12 s ago": for every operator who looks, at once. */
function HeldBy({ session: { control } }: { session: SessionView }) {
  if (control.state === 'active') return <p role="status" className="sr-only" />;
  const reason = reasonText(control.reason);
  const ask = askText(control);
  return (
    <p
      role="status"
      className={
        isUnheardPause(control)
          ? 'text-warning'
          : isStoppedState(control.state)
            ? 'text-paused'
            : 'text-muted'
      }
    >
      <span className="font-medium">
        {control.state === 'pause_requested' ? 'Pause requested' : STATE_LABELS[control.state]}
        {control.operator_id ? ` by ${control.operator_id}` : ''}
      </span>
      {control.since_ms === null ? null : (
        <>
          , <RelativeTime atMs={control.since_ms} />
        </>
      )}
      {isUnheardPause(control) ? ', not acknowledged' : null}
      {reason ? <span className="text-muted"> · {reason}</span> : null}
      {ask ? ` · ${ask}` : null}
    </p>
  );
}
