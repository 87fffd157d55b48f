/** Signing in is features/login; this is the guard of every other page, and signing out. */
import { useNavigate } from '@tanstack/react-router';
import { api, meQuery, queryClient } from '../api';
import { liveClient } from '../realtime';

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

export function useLogout(): () => Promise<void> {
  const navigate = useNavigate();
  return async () => {
    await api.post('/v1/auth/logout').catch(() => {});
    forget();
    await navigate({ to: '/login' });
  };
}
