/** A button that leads to another page, where a row's or a panel's next step is to be found. */
import { type LinkProps, useRouter } from '@tanstack/react-router';
import { ArrowRight } from 'lucide-react';
import { Button } from '../ui';

interface GoButtonProps {
  'data-testid'?: string;
  target: LinkProps;
  label: string;
  /** Whose, for screen readers. */
  of: string;
  className?: string;
}

export function GoButton({ target, label, of, ...rest }: GoButtonProps) {
  const router = useRouter();
  return (
    <Button
      {...rest}
      icon={<ArrowRight size={14} aria-hidden="true" />}
      aria-label={`${label} ${of}`}
      onPointerEnter={() => void router.preloadRoute(target)}
      onClick={() => void router.navigate(target)}
    >
      {label}
    </Button>
  );
}
