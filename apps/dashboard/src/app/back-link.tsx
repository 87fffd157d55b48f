/** The way back to the list a page about one thing was reached from: as one left it, filters and all. */
import { Link, type LinkProps, useRouter } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { cameFrom } from './came-from';

export interface BackLinkProps {
  to: LinkProps['to'] & string;
  /** As in "Back to agents". */
  listName: string;
}

export function BackLink({ to, listName }: BackLinkProps) {
  const router = useRouter();
  return (
    <Link
      to={to}
      aria-label={`Back to ${listName}`}
      onClick={(event) => {
        // Other clicks (new tab, new window) are the browser's.
        if (event.metaKey || event.ctrlKey || event.shiftKey || !cameFrom(router, to)) return;
        event.preventDefault();
        router.history.back();
      }}
      className="-ml-1.5 inline-flex size-8 shrink-0 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-fg max-md:size-10"
    >
      <ChevronLeft size={18} aria-hidden="true" />
    </Link>
  );
}
