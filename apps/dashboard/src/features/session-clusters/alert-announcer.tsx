/** Says new alerts to screen readers: those that were not there before, at most every few seconds. */
import { useEffect, useRef, useState } from 'react';
import { plural } from '../../ui';
import { newsIn } from './alert-news';

const ANNOUNCE_EVERY_MS = 5_000;
/** Names read out before it becomes a number. */
const NAMES_MAX = 3;

interface AlertAnnouncerProps {
  /** Null until they are known: the first ones are not news. */
  alerts: ReadonlyMap<string, { session_id: string }> | null;
  /** One of them, as in "new entropy alert". */
  noun: string;
}

export function AlertAnnouncer({ alerts, noun }: AlertAnnouncerProps) {
  const known = useRef<ReadonlyMap<string, { session_id: string }> | null>(null);
  const waiting = useRef<string[]>([]);
  const [text, setText] = useState('');

  useEffect(() => {
    if (alerts === null) return;
    for (const { session_id } of newsIn(alerts, known.current)) waiting.current.push(session_id);
    known.current = alerts;
  }, [alerts]);

  useEffect(() => {
    const timer = setInterval(() => {
      const fresh = waiting.current;
      waiting.current = [];
      const names = fresh.length <= NAMES_MAX ? `: ${fresh.join(', ')}` : '';
      // What stands there already would not be said again.
      setText(fresh.length === 0 ? '' : `${plural(fresh.length, noun)}${names}`);
    }, ANNOUNCE_EVERY_MS);
    return () => clearInterval(timer);
  }, [noun]);

  return (
    <p aria-live="polite" className="sr-only">
      {text}
    </p>
  );
}
