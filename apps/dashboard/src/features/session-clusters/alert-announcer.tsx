/** Says new alerts to screen readers: sessions that were not in the panel before, at most every few seconds. */
import { useEffect, useRef, useState } from 'react';
import type { EntropyAlertsData } from '../../realtime';
import { plural } from '../../ui';

const ANNOUNCE_EVERY_MS = 5_000;
/** Names read out before it becomes a number. */
const NAMES_MAX = 3;

export function AlertAnnouncer({ groups }: { groups: EntropyAlertsData | null }) {
  const known = useRef<Set<string> | null>(null);
  const waiting = useRef<string[]>([]);
  const [text, setText] = useState('');

  useEffect(() => {
    if (!groups) return;
    if (known.current === null) {
      known.current = new Set(groups.keys());
      return;
    }
    for (const id of groups.keys()) {
      if (known.current.has(id)) continue;
      known.current.add(id);
      waiting.current.push(id);
    }
  }, [groups]);

  useEffect(() => {
    const timer = setInterval(() => {
      const ids = waiting.current;
      if (ids.length === 0) return;
      waiting.current = [];
      const names = ids.length <= NAMES_MAX ? `: ${ids.join(', ')}` : '';
      setText(`${plural(ids.length, 'new entropy alert')}${names}`);
    }, ANNOUNCE_EVERY_MS);
    return () => clearInterval(timer);
  }, []);

  return (
    <p aria-live="polite" className="sr-only">
      {text}
    </p>
  );
}
