/** Says new alerts to screen readers: sessions that were not in the panel before, at most every few seconds. */
import { useEffect, useRef, useState } from 'react';
import { plural } from '../../ui';

const ANNOUNCE_EVERY_MS = 5_000;
/** Names read out before it becomes a number. */
const NAMES_MAX = 3;

interface AlertAnnouncerProps {
  /** By session id; null until they are known: the first ones are not news. */
  ids: ReadonlyMap<string, unknown> | null;
  /** One of them, as in "new entropy alert". */
  noun: string;
}

export function AlertAnnouncer({ ids, noun }: AlertAnnouncerProps) {
  const known = useRef<Set<string> | null>(null);
  const waiting = useRef<string[]>([]);
  const [text, setText] = useState('');

  useEffect(() => {
    if (!ids) return;
    if (known.current === null) {
      known.current = new Set(ids.keys());
      return;
    }
    for (const id of ids.keys()) {
      if (known.current.has(id)) continue;
      known.current.add(id);
      waiting.current.push(id);
    }
  }, [ids]);

  useEffect(() => {
    const timer = setInterval(() => {
      const fresh = waiting.current;
      if (fresh.length === 0) return;
      waiting.current = [];
      const names = fresh.length <= NAMES_MAX ? `: ${fresh.join(', ')}` : '';
      setText(`${plural(fresh.length, noun)}${names}`);
    }, ANNOUNCE_EVERY_MS);
    return () => clearInterval(timer);
  }, [noun]);

  return (
    <p aria-live="polite" className="sr-only">
      {text}
    </p>
  );
}
