/** "(2) Observatory": sessions that loop and that nobody has stopped, or that wait for a person, visible from another tab. */
import { useEffect } from 'react';
import { useLoopsNow } from './looping';
import { useWaiting } from './waiting';

export function TitleBadge() {
  const loops = useLoopsNow();
  const waiting = useWaiting();
  const count = new Set([...loops.keys(), ...(waiting?.keys() ?? [])]).size;
  useEffect(() => {
    document.title = count > 0 ? `(${count}) Observatory` : 'Observatory';
  }, [count]);
  return null;
}
