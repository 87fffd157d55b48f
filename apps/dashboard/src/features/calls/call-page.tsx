/** One call on a page of its own: where links from alerts and traces lead. */
import { getRouteApi, Link } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { MissingThing } from '../../app/thing-page';
import { useTopic } from '../../realtime';
import { Panel, Skeleton } from '../../ui';
import { CallDetails } from './call-details';
import { DecisionBadge } from './decision-badge';
import { useCall } from './use-call';

const route = getRouteApi('/shell/calls/$callId');

export function CallPage() {
  const { callId } = route.useParams();
  const { data } = useTopic('gateway:calls');
  const { call, failure } = useCall(
    callId,
    data?.find(({ call_id }) => call_id === callId),
  );
  if (failure && !call) {
    return <MissingThing noun="call" id={callId} failure={failure} to="/calls" listName="calls" />;
  }
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto max-w-3xl p-4">
        <header className="mb-3 flex items-center gap-2">
          <Link
            to="/calls"
            aria-label="Back to calls"
            className="-ml-1.5 inline-flex size-8 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-fg max-md:size-10"
          >
            <ChevronLeft size={18} aria-hidden="true" />
          </Link>
          <h1 className="min-w-0 truncate font-semibold text-lg">
            Call{call?.model ? ` to ${call.model}` : ''}
          </h1>
          {call ? <DecisionBadge call={call} /> : null}
        </header>
        <Panel bodyClassName="p-4">
          {call ? <CallDetails call={call} /> : <Skeleton className="h-64 w-full" />}
        </Panel>
      </div>
    </div>
  );
}
