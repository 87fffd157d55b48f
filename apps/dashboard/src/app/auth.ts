/** Signing in is features/login; this is the guard of every other page, and signing out. */
import { useNavigate } from '@tanstack/react-router';
import { ApiError, api, meQuery, queryClient } from '../api';
import { liveClient } from '../realtime';
import { toast } from '../ui';

/** Reads who is logged in, then connects. Rejects with ApiError `unauthorized`. */
export async function enter(): Promise<void> {
  await queryClient.ensureQueryData(meQuery);
  liveClient.start();
}

/** Forgets the login on this page; the caller shows the login. */
export function forget(): void {
  liveClient.stop();
  queryClient.clear();
}

/** The login ends at the gateway or not at all: a page that merely forgot it would be let in again by its cookie. */
export function useLogout(): () => Promise<void> {
  const navigate = useNavigate();
  return async () => {
    try {
      await api.post('/v1/auth/logout');
    } catch (error) {
      const description = error instanceof ApiError ? error.message : 'Try again.';
      toast({ title: 'You are still signed in', description, tone: 'danger' });
      return;
    }
    forget();
    await navigate({ to: '/login' });
  };
}
