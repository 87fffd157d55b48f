/** Cache of REST answers. Live data does not go through it: see realtime/. */
import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './client';

const RETRIES_MAX = 2;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      /** A refusal will not change by asking again; silence may. */
      retry: (failureCount, error) =>
        failureCount < RETRIES_MAX &&
        !(error instanceof ApiError && error.status >= 400 && error.status < 500),
    },
  },
});
