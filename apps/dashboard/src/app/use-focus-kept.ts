/**
 * Whoever works by keyboard keeps their place when what has the focus goes away: a button that did its work, a row that
 * was deleted, here or by somebody else. The focus then goes to the part of the page around it that is still there, and
 * never to a neighbour, which the next key would press.
 */
import { useEffect } from 'react';

/** With a name that says where one is. */
const PARTS = 'section[aria-labelledby], section[aria-label], [role=tabpanel], [role=dialog], main';

export function useFocusKept(): void {
  useEffect(() => {
    /** What had the focus last, and all around it, innermost first; empty once somebody left it by themselves. */
    let path: Element[] = [];
    /** The same of what had it last on the page itself: a dialog is not part of the row that opened it. */
    let pagePath: Element[] = [];
    let frame = 0;

    const remember = (event: FocusEvent) => {
      path = ancestors(event.target as Element);
      if (path.some((element) => element.matches('main'))) pagePath = path;
    };
    const check = () => {
      frame = 0;
      const [last] = path;
      if (!last || document.activeElement !== document.body) return;
      if (!last.isConnected) focusPart([...path, ...pagePath]);
      else path = [];
    };
    // In the next frame: a dialog that closes gives the focus back by itself.
    const checkSoon = () => {
      frame ||= requestAnimationFrame(check);
    };
    const observer = new MutationObserver(checkSoon);
    observer.observe(document.body, { childList: true, subtree: true });
    document.addEventListener('focusin', remember);
    document.addEventListener('focusout', checkSoon);
    return () => {
      observer.disconnect();
      cancelAnimationFrame(frame);
      document.removeEventListener('focusin', remember);
      document.removeEventListener('focusout', checkSoon);
    };
  }, []);
}

function ancestors(element: Element): Element[] {
  const path: Element[] = [];
  for (let at: Element | null = element; at; at = at.parentElement) path.push(at);
  return path;
}

function focusPart(path: readonly Element[]): void {
  const part = path.find((element) => element.isConnected && element.matches(PARTS));
  if (!(part instanceof HTMLElement)) return;
  if (!part.hasAttribute('tabindex')) part.tabIndex = -1;
  part.focus({ preventScroll: true });
}
