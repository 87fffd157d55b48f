/** One agent: whether it may call, what it spends, what it did, and everything an operator can set about it. */
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { ArrowRight } from 'lucide-react';
import { type ReactNode, useRef } from 'react';
import type { AgentView } from '#contracts';
import { IdHeading } from '../../app/id-heading';
import { TextLink } from '../../app/text-link';
import { LoadingThing, MissingThing } from '../../app/thing-page';
import { useBack } from '../../app/use-back';
import {
  cx,
  FactInLine,
  formatCount,
  formatShare,
  Panel,
  plural,
  RelativeTime,
  Skeleton,
  SkipButton,
} from '../../ui';
import { AgentAlerts } from '../alerts/agent-alerts';
import { CallsTable } from '../calls/calls-table';
import { NoCalls } from '../calls/no-calls';
import { useCalls } from '../calls/use-calls';
import { AgentIncidents } from '../incidents/agent-incidents';
import { BUDGET_SPANS, SpendBar } from './agent-meters';
import { ErrorRate } from './agent-row';
import { AgentState, HeldBadge } from './agent-state';
import { DeactivateButton } from './deactivate-button';
import { KillSwitchPanel } from './kill-switch-panel';
import { LastCall } from './last-call';
import { LatestRefusal } from './latest-refusal';
import { PolicyPanel } from './policy-panel';
import { ReactivateButton } from './reactivate-button';
import { isKilled } from './select-agents';
import { SplitNote } from './split-agent';
import { StoppedBy } from './stopped-by';
import { useAgent } from './use-agent';

const HIDDEN_COLUMNS = ['agent', 'session', 'first_byte'] as const;
const route = getRouteApi('/shell/agents/$agentId');

export function AgentPage() {
  const { agentId } = route.useParams();
  const { agent, failure } = useAgent(agentId);
  useBack('/agents');
  if (agent) return <Agent key={agentId} agent={agent} />;
  if (failure) {
    return (
      <MissingThing
        noun="agent"
        id={agentId}
        failure={failure}
        to="/agents"
        listName="agents"
        // Alerts lead here also of agents that report steps, and call no model through the proxy.
        instead={
          <TextLink to="/" search={{ agent: agentId }}>
            See its sessions
          </TextLink>
        }
      />
    );
  }
  return <LoadingThing title={`Agent ${agentId}`} />;
}

function Agent({ agent }: { agent: AgentView }) {
  const behindCalls = useRef<HTMLDivElement>(null);
  return (
    <div className="flex h-full flex-col overflow-y-auto">
      <AgentHeader agent={agent} />
      <div className="flex items-start gap-3 p-3 max-lg:flex-col max-lg:items-stretch">
        <div className="relative flex min-w-0 flex-1 flex-col gap-3">
          <SpendPanel agent={agent} />
          <SkipButton to={behindCalls}>Skip the calls</SkipButton>
          <LatestCalls agentId={agent.agent_id} />
          <div ref={behindCalls} tabIndex={-1} className="outline-none">
            <AgentIncidents agentId={agent.agent_id} />
          </div>
        </div>
        <div className="flex w-[400px] shrink-0 flex-col gap-3 max-lg:w-full">
          <KillSwitchPanel settings={agent.kill_switch} />
          <PolicyPanel policy={agent.policy} />
        </div>
      </div>
    </div>
  );
}

function AgentHeader({ agent }: { agent: AgentView }) {
  const { policy } = agent;
  return (
    <header
      className={cx(
        'flex flex-col gap-2 border-line border-b bg-surface px-4 py-3',
        !policy.active &&
          (isKilled(agent) ? 'border-t-2 border-t-danger-solid' : 'border-t-2 border-t-faint'),
      )}
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <IdHeading to="/agents" listName="agents" id={agent.agent_id} charsMax={40} kind="agent id" />
        <AgentState agent={agent} />
        <HeldBadge agent={agent} />
        <div className="ml-auto min-w-0 max-md:ml-0 max-md:w-full">
          <DeactivateButton
            agentId={agent.agent_id}
            whenStopped={policy.active ? null : <ReactivateButton agentId={agent.agent_id} asksFirst />}
            isStored={agent.is_stop_stored}
          />
        </div>
      </div>
      {policy.active ? (
        <p role="status" className="sr-only" />
      ) : (
        <p role="status" className={isKilled(agent) ? 'text-danger' : 'text-muted'}>
          <StoppedBy agent={agent} />
        </p>
      )}
      <SplitNote agent={agent} />
      <LatestRefusal agent={agent} />
      <AgentAlerts agentId={agent.agent_id} />
      <dl className="flex flex-wrap gap-x-6 gap-y-1 text-xs">
        <FactInLine name="Calls/min">{formatCount(Math.round(agent.calls_per_minute))}</FactInLine>
        <FactInLine name="Errors, 5 min">
          <ErrorRate rate={agent.error_rate} />
        </FactInLine>
        <FactInLine name="Refused, 5 min">
          {agent.refusal_rate === null ? (
            <span className="text-faint">–</span>
          ) : (
            <span className={cx(agent.refusal_rate > 0 && 'font-semibold text-warning')}>
              {formatShare(agent.refusal_rate)}
            </span>
          )}
        </FactInLine>
        <FactInLine name="Under way">{formatCount(agent.running_call_count)}</FactInLine>
        <FactInLine name="Held">
          {agent.held_call_count === 0 ? (
            'none'
          ) : (
            <>
              {plural(agent.held_call_count, 'call')}
              {agent.held_since_ms === null ? null : (
                <>
                  , {agent.held_call_count === 1 ? '' : 'the first '}
                  <RelativeTime atMs={agent.held_since_ms} />
                </>
              )}
            </>
          )}
        </FactInLine>
        <FactInLine name="Last call">
          <LastCall agent={agent} />
        </FactInLine>
      </dl>
    </header>
  );
}

function SpendPanel({ agent }: { agent: AgentView }) {
  return (
    <Panel
      title="Spend"
      actions={
        <MoreLink>
          <Link to="/spend" search={{ agent: agent.agent_id }} aria-label="All of it: spend">
            All of it
          </Link>
        </MoreLink>
      }
    >
      <div className="grid grid-cols-3 gap-4">
        {BUDGET_SPANS.map((span) => (
          <SpendBar key={span} agent={agent} span={span} withName />
        ))}
      </div>
    </Panel>
  );
}

function LatestCalls({ agentId }: { agentId: string }) {
  const source = useCalls({ agent: agentId });
  const navigate = useNavigate();
  return (
    <Panel
      title="Latest calls"
      actions={
        <MoreLink>
          <Link to="/calls" search={{ agent: agentId }} aria-label="All of them: calls">
            All of them
          </Link>
        </MoreLink>
      }
      bodyClassName=""
    >
      <CallsTable
        source={{ ...source, hasOlder: false }}
        resetKey={agentId}
        openId={null}
        hides={HIDDEN_COLUMNS}
        onOpen={({ call_id }) => void navigate({ to: '/calls', search: { agent: agentId, call: call_id } })}
        // However many there are: what lies below stays where it is as they come.
        className="h-72"
        empty={
          source.isLoading ? (
            <Skeleton className="m-3 h-16" />
          ) : (
            <NoCalls>{source.failure ?? 'They appear here as they end.'}</NoCalls>
          )
        }
      />
    </Panel>
  );
}

function MoreLink({ children }: { children: ReactNode }) {
  return (
    <span className="inline-flex items-center gap-1 font-medium text-accent text-xs hover:underline">
      {children}
      <ArrowRight size={12} aria-hidden="true" />
    </span>
  );
}
