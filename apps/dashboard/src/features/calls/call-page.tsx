/** One call on a page of its own: where links from alerts and traces lead. */
import { getRouteApi } from '@tanstack/react-router';
import { BackLink } from '../../app/back-link';
import { MissingThing } from '../../app/thing-page';
import { useBack } from '../../app/use-back';
import { useTopic } from '../../realtime';
import { Panel, Skeleton } from '../../ui';
import { CallDetails } from './call-details';
import { DecisionBadge } from './decision-badge';
import { useCall } from './use-call';

const route = getRouteApi('/shell/calls/$callId');

export function CallPage() {
  const { callId } = route.useParams();
  const { data } = useTopic('gateway:calls');
  useBack('/calls');
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
          <BackLink to="/calls" listName="calls" />
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
