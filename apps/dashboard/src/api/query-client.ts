/** Cache of REST answers. Live data does not go through it: see realtime/. */
import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './client';

const RETRIES_MAX = 2;
/**
 * Whatever the browser says of its network: the gateway may be on this machine. And what it cannot be asked now fails now:
 * kept until there is a network again, a command would be obeyed hours after it was given.
 */
const networkMode = 'always';

export const queryClient = new QueryClient({
  defaultOptions: {
    mutations: { networkMode },
    queries: {
      networkMode,
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      /** What failed; nothing else, so that no form is filled anew under somebody's hands. */
      refetchOnReconnect: ({ state }) => state.status === 'error',
      /** A refusal will not change by asking again; silence may. */
      retry: (failureCount, error) =>
        failureCount < RETRIES_MAX &&
        !(error instanceof ApiError && error.status >= 400 && error.status < 500),
    },
  },
});
