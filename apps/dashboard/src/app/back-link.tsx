/** The way back to the list a page about one thing was reached from. */
import { Link, type LinkProps } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';

interface BackLinkProps {
  to: LinkProps['to'];
  /** As in "Back to agents". */
  listName: string;
}

export function BackLink({ to, listName }: BackLinkProps) {
  return (
    <Link
      to={to}
      aria-label={`Back to ${listName}`}
      className="-ml-1.5 inline-flex size-8 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-fg max-md:size-10"
    >
      <ChevronLeft size={18} aria-hidden="true" />
    </Link>
  );
}
