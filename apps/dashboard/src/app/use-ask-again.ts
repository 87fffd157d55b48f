/**
 * What the page asked for in vain while the gateway was away is asked for again once the page is live: it would go on
 * saying that the gateway could not be reached. Nothing else is, so that no form is filled anew under somebody's hands.
 */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useConnection } from '../realtime';

export function useAskAgain(): void {
  const queryClient = useQueryClient();
  const isLive = useConnection().kind === 'connected';
  useEffect(() => {
    if (!isLive) return;
    void queryClient.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
  }, [isLive, queryClient]);
}
