/** j and k in a list whose rows are opened by a button or a link of their own: they carry the focus from row to row. */
import type { RefObject } from 'react';
import { useShortcut } from './use-shortcut';

/** Spread onto what opens its row; Enter presses it. */
export const rowFocus = { 'data-row-focus': '' } as const;

/** @param listRef what scrolls. One that is virtualised draws some rows beyond its view: the next one has to be there */
export function useRowFocus(listRef: RefObject<HTMLElement | null>): void {
  const move = (by: 1 | -1) => {
    const list = listRef.current;
    if (!list) return false;
    const rows = [...list.querySelectorAll<HTMLElement>('[data-row-focus]')];
    const at = placeOfFocus(list, rows);
    const next = at === -1 ? rows.find((row) => isBelowTop(row, list)) : rows[at + by];
    if (!next) return rows.length > 0;
    (next.closest('tr, li') ?? next).scrollIntoView({ block: 'nearest' });
    next.focus({ preventScroll: true });
    return true;
  };
  useShortcut('next', () => move(1));
  useShortcut('previous', () => move(-1));
}

/** The row that has the focus, be it in its open details; -1: none has. */
function placeOfFocus(list: Element, rows: readonly Element[]): number {
  const { activeElement: focused } = document;
  if (!focused || !list.contains(focused)) return -1;
  return rows.findLastIndex(
    (row) => row === focused || row.compareDocumentPosition(focused) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
}

const isBelowTop = (row: Element, list: Element): boolean =>
  row.getBoundingClientRect().top >= list.getBoundingClientRect().top;
