/** All agents taken together: what they spend, what they may do and spend as one, and the stop of all. */
import { Ban } from 'lucide-react';
import type { AllAgentsView } from '#contracts';
import { BackLink } from '../../app/back-link';
import { TextLink } from '../../app/text-link';
import { LoadingThing } from '../../app/thing-page';
import { useBack } from '../../app/use-back';
import { useTopic } from '../../realtime';
import { Badge, Callout, cx, Panel } from '../../ui';
import { BUDGET_SPANS, SpendBar } from './agent-meters';
import { AllStoppedBy } from './all-stopped-by';
import { StopAllButton } from './deactivate-button';
import { PolicyOfAllPanel } from './policy-panel';
import { LetAllRunButton } from './reactivate-button';
import { TopSpenders } from './top-spenders';

export function AllAgentsPage() {
  const { data, refusal } = useTopic('gateway:all_agents');
  useBack('/agents');
  if (data) return <AllAgents view={data} />;
  if (refusal)
    return (
      <Callout tone="danger" className="m-3">
        This cannot be shown: {refusal.detail}
      </Callout>
    );
  return <LoadingThing title="All agents" />;
}

function AllAgents({ view }: { view: AllAgentsView }) {
  const { policy } = view;
  return (
    <div className="flex h-full flex-col overflow-y-auto">
      <header
        className={cx(
          'flex flex-col gap-2 border-line border-b bg-surface px-4 py-3',
          !policy.active && 'border-t-2 border-t-danger-solid',
        )}
      >
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
          <BackLink to="/agents" listName="agents" />
          <h1 className="font-semibold text-lg">All agents together</h1>
          {policy.active ? (
            <Badge tone="success">May run</Badge>
          ) : (
            <Badge tone="danger" icon={<Ban size={11} aria-hidden="true" />}>
              Stopped
            </Badge>
          )}
          <div className="ml-auto min-w-0 max-md:ml-0 max-md:w-full">
            <StopAllButton
              whenStopped={policy.active ? null : <LetAllRunButton />}
              isStored={view.is_stop_stored}
            />
          </div>
        </div>
        <p role="status" className={policy.active ? 'sr-only' : 'text-danger [overflow-wrap:anywhere]'}>
          {policy.active ? null : <AllStoppedBy view={view} />}
        </p>
        <p className="max-w-prose text-muted text-xs">
          What holds for every agent of this tenant, also for one that nobody has seen yet, beside its own
          policy: a call has to fit into both. Rates and budgets count what all of them use as one, so that no
          agent gets more of them by another name.
        </p>
      </header>
      <div className="grid max-w-6xl grid-cols-[minmax(0,2fr)_minmax(16rem,1fr)] items-start gap-3 p-3 max-lg:grid-cols-1">
        <div className="flex min-w-0 flex-col gap-3">
          <Panel title="Spend" actions={<TextLink to="/spend">By agent, model and day</TextLink>}>
            <div className="grid grid-cols-3 gap-4">
              {BUDGET_SPANS.map((span) => (
                <SpendBar key={span} agent={view} span={span} withName />
              ))}
            </div>
          </Panel>
          <PolicyOfAllPanel policy={policy} />
        </div>
        <TopSpenders />
      </div>
    </div>
  );
}
