/** What is shown when a page cannot be: the gateway is away, the address is wrong, or we made a mistake. */
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { CloudOff, Compass } from 'lucide-react';
import { ApiError } from '../api';
import { Button, EmptyState } from '../ui';
import { TextLink } from './text-link';

export function RouteFailure({ error }: ErrorComponentProps) {
  const router = useRouter();
  const isAway = error instanceof ApiError;
  return (
    <main className="grid h-full place-items-center">
      <EmptyState
        icon={<CloudOff size={28} aria-hidden="true" />}
        isPage
        title={isAway ? 'Observatory is not answering' : 'This page failed'}
        action={<Button onClick={() => router.invalidate()}>Try again</Button>}
      >
        {error instanceof Error ? error.message : String(error)}
      </EmptyState>
    </main>
  );
}

export function RouteNotFound() {
  return (
    <main className="grid h-full place-items-center">
      <EmptyState
        icon={<Compass size={28} aria-hidden="true" />}
        isPage
        title="There is nothing at this address"
        action={<TextLink to="/">Go to sessions</TextLink>}
      />
    </main>
  );
}
