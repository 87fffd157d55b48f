/** "(2) Observatory": sessions that loop and that nobody has stopped, visible from another tab. */
import { useEffect } from 'react';
import { useLoopCount } from './looping';

export function TitleBadge() {
  const count = useLoopCount();
  useEffect(() => {
    document.title = count > 0 ? `(${count}) Observatory` : 'Observatory';
  }, [count]);
  return null;
}
