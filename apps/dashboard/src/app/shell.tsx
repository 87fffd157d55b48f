/** The frame around every page but the login: navigation at the left on a desktop, at the bottom on a phone. */
import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { AllStoppedNotice } from './all-stopped-notice';
import { BottomBar } from './bottom-bar';
import { CommandPalette } from './command-palette';
import { ExactTime } from './exact-time';
import { GlobalShortcuts } from './global-shortcuts';
import { ShortcutHelp } from './keyboard/shortcut-help';
import { PageTitle } from './page-title';
import { ReconnectChip, StaleNotice } from './reconnect-chip';
import { Sidebar } from './sidebar';
import { useAskAgain } from './use-ask-again';
import { useFocusKept } from './use-focus-kept';
import { usePageSupply } from './use-page-supply';

export function Shell() {
  const mainRef = useRef<HTMLElement>(null);
  useFocusOnNavigation(mainRef);
  useFocusKept();
  useAskAgain();
  usePageSupply();
  return (
    <div className="flex h-full max-md:flex-col">
      <a
        href="#main"
        className="absolute top-2 left-2 z-50 -translate-y-20 rounded-md bg-raised px-3 py-1.5 shadow-pop focus:translate-y-0"
      >
        Skip to content
      </a>
      <Sidebar />
      <header className="flex h-12 shrink-0 items-center justify-between border-line border-b bg-surface px-3 md:hidden">
        <span className="font-semibold text-md">Observatory</span>
        <ReconnectChip />
      </header>
      <main
        id="main"
        ref={mainRef}
        tabIndex={-1}
        // What is for screen readers alone is placed in here, and not in the window, which would scroll down to it.
        className="relative flex min-h-0 min-w-0 flex-1 flex-col overflow-clip outline-none"
      >
        <div className="min-h-0 flex-1">
          <Outlet />
        </div>
        <AllStoppedNotice />
        <StaleNotice />
      </main>
      <BottomBar />
      <GlobalShortcuts />
      <CommandPalette />
      <ShortcutHelp />
      <PageTitle />
      <ExactTime />
    </div>
  );
}

/** After a navigation the focus starts at the new page, not at the link that is gone. Not on the first load. */
function useFocusOnNavigation(ref: React.RefObject<HTMLElement | null>): void {
  const pathname = useRouterState({ select: (state) => state.location.pathname });
  const shown = useRef(pathname);
  useEffect(() => {
    if (shown.current === pathname) return;
    shown.current = pathname;
    const main = ref.current;
    if (main && !main.contains(document.activeElement)) main.focus({ preventScroll: true });
  }, [pathname, ref]);
}
