/** Turns key presses into shortcut ids. Pure; sequences ("g s") are matched over the last two presses. */
import { KEY_MAP, type ShortcutId } from './key-map';

/** Two keys of a sequence may lie this far apart. */
export const SEQUENCE_MS_MAX = 1_000;

export interface KeyPress {
  key: string;
  /** Ctrl, or Command on Apple devices. */
  mod: boolean;
  atMs: number;
}

const names: Record<string, string> = { Escape: 'esc', Enter: 'enter' };

const nameOf = ({ key, mod }: KeyPress): string => {
  const name = names[key] ?? (key.length === 1 ? key.toLowerCase() : key);
  return mod ? `mod+${name}` : name;
};

const byKeys = new Map<string, ShortcutId>(
  (Object.keys(KEY_MAP) as ShortcutId[]).map((id) => [KEY_MAP[id].keys, id]),
);

/** @param previous the press before, or null; a sequence wins over the single key. */
export function matchKeys(previous: KeyPress | null, press: KeyPress): ShortcutId | null {
  if (previous && press.atMs - previous.atMs <= SEQUENCE_MS_MAX) {
    const sequence = byKeys.get(`${nameOf(previous)} ${nameOf(press)}`);
    if (sequence) return sequence;
  }
  return byKeys.get(nameOf(press)) ?? null;
}
