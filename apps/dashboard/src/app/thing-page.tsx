/** A page about one thing, while it is not there: on its way, or not to be had. */
import type { LinkProps } from '@tanstack/react-router';
import { SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { EmptyState, Skeleton } from '../ui';
import { TextLink } from './text-link';

interface MissingThingProps {
  /** As in "This agent cannot be shown". */
  noun: string;
  id: string;
  /** What the server said. */
  failure: string;
  to: LinkProps['to'];
  /** As in "Back to agents". */
  listName: string;
  /** A way on to where it may be found. */
  instead?: ReactNode;
}

export function MissingThing({ noun, id, failure, to, listName, instead }: MissingThingProps) {
  return (
    <EmptyState
      icon={<SearchX size={28} aria-hidden="true" />}
      title={`This ${noun} cannot be shown`}
      isPage
      className="h-full"
      action={
        <span className="flex flex-wrap justify-center gap-x-4 gap-y-2">
          {instead}
          <TextLink to={to}>Back to {listName}</TextLink>
        </span>
      }
    >
      <span className="break-all font-mono text-xs">{id}</span>
      <br />
      {failure}
    </EmptyState>
  );
}

/** @param title read out while nothing can be seen */
export function LoadingThing({ title }: { title: string }) {
  return (
    <div aria-busy="true" className="flex flex-col gap-4 p-4">
      <h1 className="sr-only">{title}</h1>
      <Skeleton className="h-8 w-1/2" />
      <Skeleton className="h-24 w-full" />
      <Skeleton className="h-64 w-full" />
    </div>
  );
}
