/** The semantic loop that a call was found to be: read by its session, since a call holds no prompts. */
import { useQuery } from '@tanstack/react-query';
import { type LlmCall, type Page, SEMANTIC_LOOP_ACTIONS, type SemanticLoopEvent } from '#contracts';
import { api } from '../../api';
import { Skeleton } from '../../ui';
import { LoopEvidence } from '../semantic-loops/loop-evidence';

const LOOPS_READ = 200;

export const isLoopingCall = ({ steps }: Pick<LlmCall, 'steps'>): boolean =>
  steps.some(
    ({ name, outcome }) =>
      name === 'semantic_loop' && SEMANTIC_LOOP_ACTIONS.some((action) => action === outcome),
  );

export function CallLoop({ call }: { call: LlmCall }) {
  const { data, error } = useQuery({
    queryKey: ['semantic-loops', call.session_id, call.call_id],
    queryFn: () =>
      api.get<Page<SemanticLoopEvent>>('/v1/semantic-loops', {
        session_id: call.session_id,
        limit: LOOPS_READ,
      }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error) return <p className="text-danger text-xs">{error.message}</p>;
  if (!data) return <Skeleton className="h-24 w-full" />;
  const event = data.items.find(({ call_id }) => call_id === call.call_id);
  return event ? (
    <LoopEvidence event={event} isOfOpenCall />
  ) : (
    <p className="text-muted text-xs">What it was compared with is not kept any more.</p>
  );
}
