/** Where an empty page leads: the one thing that would fill it, as a link. */
import { Link, type LinkProps } from '@tanstack/react-router';

export const NextStep = (props: Pick<LinkProps, 'to' | 'search' | 'children'>) => (
  <Link {...props} className="font-medium text-accent underline underline-offset-2" />
);
