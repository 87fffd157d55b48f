/** Moving through the list by keyboard: j and k, or arrows, move, enter opens, p pauses, esc lets go. */
import type { Virtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { useShortcut } from '../../app/keyboard/use-shortcut';
import type { SessionsData } from '../../realtime';
import { usePauseAndInspect } from '../hitl-console/use-pause-and-inspect';
import type { ListRow } from './list-rows';

interface RowKeysOptions {
  rows: readonly ListRow[];
  sessions: SessionsData;
  listRef: RefObject<HTMLElement | null>;
  virtualizer: Pick<Virtualizer<HTMLElement, Element>, 'scrollToIndex'>;
  open: (sessionId: string) => void;
}

export function useRowKeys({ rows, sessions, listRef, virtualizer, open }: RowKeysOptions) {
  const [activeId, setActiveId] = useState<string | null>(null);
  /** Set by a key press: the row takes the focus once it is drawn. */
  const wantsFocus = useRef(false);
  const pauseAndInspect = usePauseAndInspect();

  const move = (by: 1 | -1) => {
    const ids = rows.flatMap((row) => (row.kind === 'session' ? [row.id] : []));
    const at = activeId === null ? -1 : ids.indexOf(activeId);
    const next = ids[at === -1 ? 0 : Math.min(ids.length - 1, Math.max(0, at + by))];
    if (next === undefined) return;
    wantsFocus.current = true;
    setActiveId(next);
    virtualizer.scrollToIndex(rows.findIndex((row) => row.kind === 'session' && row.id === next));
  };

  useEffect(() => {
    if (!wantsFocus.current || activeId === null) return;
    const row = listRef.current?.querySelector<HTMLElement>(`[data-session-id="${CSS.escape(activeId)}"]`);
    if (!row) return;
    wantsFocus.current = false;
    row.focus({ preventScroll: true });
  });

  useShortcut('next', () => move(1));
  useShortcut('previous', () => move(-1));
  useShortcut('inspect', () => (activeId ? open(activeId) : false));
  useShortcut('pause', () => {
    const session = activeId ? sessions.get(activeId) : undefined;
    return session ? void pauseAndInspect.run(session, 'Paused from the session list') : false;
  });
  useShortcut('back', () => {
    if (activeId === null) return false;
    setActiveId(null);
    (document.activeElement as HTMLElement | null)?.blur();
    return true;
  });

  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : null;
    if (by === null || !(event.target as Element).matches('[role=row]')) return;
    event.preventDefault();
    move(by);
  };

  return { activeId, setActiveId, onKeyDown };
}
