/** A link in a sentence, or the one way on from an empty page. */
import { Link, type LinkProps } from '@tanstack/react-router';

export const TextLink = (props: Pick<LinkProps, 'to' | 'params' | 'search' | 'children'>) => (
  <Link {...props} className="font-medium text-accent underline underline-offset-2" />
);
