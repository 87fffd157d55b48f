/** The session's calls through the proxy, live. */
import { useNavigate } from '@tanstack/react-router';
import { Skeleton } from '../../ui';
import { CallsTable } from '../calls/calls-table';
import { NoCalls } from '../calls/no-calls';
import { useCalls } from '../calls/use-calls';

const HIDDEN_COLUMNS = ['session'] as const;

export function SessionCalls({ sessionId }: { sessionId: string }) {
  const source = useCalls({ session: sessionId });
  const navigate = useNavigate();
  return (
    <CallsTable
      source={source}
      resetKey={sessionId}
      openId={null}
      hides={HIDDEN_COLUMNS}
      onOpen={({ call_id }) => void navigate({ to: '/calls', search: { session: sessionId, call: call_id } })}
      className="h-full"
      empty={
        source.isLoading ? (
          <Skeleton className="m-3 h-24" />
        ) : (
          <NoCalls>
            {source.failure ??
              'This session’s calls go to their vendor directly. Change one base URL to see them.'}
          </NoCalls>
        )
      }
    />
  );
}
