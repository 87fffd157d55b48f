/** Escape on a page about one thing: to where one came from, its filters and all; opened by its address, to its list. */
import { type LinkProps, useCanGoBack, useRouter } from '@tanstack/react-router';
import { useShortcut } from './keyboard/use-shortcut';

export function useBack(to: LinkProps['to']): void {
  const router = useRouter();
  const canGoBack = useCanGoBack();
  useShortcut('back', () => (canGoBack ? router.history.back() : void router.navigate({ to })));
}
