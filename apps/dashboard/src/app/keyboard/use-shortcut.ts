/**
 * Shortcuts of the page. `useShortcut('pause', handler)` while mounted; the handler registered last wins, and passes on
 * to the one before by returning false. Nothing fires while somebody types, while a dialog is open (it handles Escape
 * itself), or on `enter` when a control has the focus.
 */
import { useEffect, useRef } from 'react';
import type { ShortcutId } from './key-map';
import { type KeyPress, matchKeys } from './match-keys';

type Handler = () => unknown;

const handlers = new Map<ShortcutId, Handler[]>();
let previous: KeyPress | null = null;

export function useShortcut(id: ShortcutId, handler: Handler): void {
  const latest = useRef(handler);
  latest.current = handler;
  useEffect(() => {
    const call = () => latest.current();
    const stack = handlers.get(id) ?? [];
    handlers.set(id, [...stack, call]);
    return () => {
      handlers.set(
        id,
        (handlers.get(id) ?? []).filter((known) => known !== call),
      );
    };
  }, [id]);
}

/** Listens for the whole page; returns the function that stops it. */
export function listenForShortcuts(): () => void {
  document.addEventListener('keydown', onKeyDown);
  return () => document.removeEventListener('keydown', onKeyDown);
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey || event.repeat) {
    if (!isRowKey(event)) return;
  }
  if (['Shift', 'Control', 'Meta', 'Alt'].includes(event.key)) return;
  const press: KeyPress = { key: event.key, mod: event.ctrlKey || event.metaKey, atMs: event.timeStamp };
  const id = matchKeys(previous, press);
  previous = press;
  if (!id || !mayFire(id, event)) return;
  const stack = handlers.get(id) ?? [];
  for (const handler of stack.toReversed()) {
    if (handler() !== false) {
      event.preventDefault();
      previous = null;
      return;
    }
  }
}

/** Held down, j and k keep moving. */
const isRowKey = (event: KeyboardEvent): boolean =>
  event.repeat && !event.defaultPrevented && (event.key === 'j' || event.key === 'k');

function mayFire(id: ShortcutId, event: KeyboardEvent): boolean {
  if (id === 'palette') return true;
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest('input, textarea, select, [contenteditable="true"], [role="textbox"]')) return false;
  if (document.querySelector('[role="dialog"], [role="alertdialog"], [role="listbox"]')) return false;
  return id !== 'inspect' || !target?.closest('a, button');
}
