/** Rows that a long list draws beyond those in sight: a few, so that scrolling shows none late; on paper all there is room for. */
import { useSyncExternalStore } from 'react';

/** About forty sheets. */
const PRINTED_ROWS_MAX = 1_000;

let isPrinting = false;

function subscribe(listener: () => void): () => void {
  const set = (value: boolean) => () => {
    isPrinting = value;
    listener();
  };
  const [begin, end] = [set(true), set(false)];
  addEventListener('beforeprint', begin);
  addEventListener('afterprint', end);
  return () => {
    removeEventListener('beforeprint', begin);
    removeEventListener('afterprint', end);
  };
}

export const useOverscan = (rows: number): number =>
  useSyncExternalStore(subscribe, () => isPrinting) ? PRINTED_ROWS_MAX : rows;
