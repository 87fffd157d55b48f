/**
 * "(2) Spend · Observatory": the page, so that tabs and a browser's history can be told apart; in front of it the sessions that loop
 * and that nobody has stopped, or that wait for a person.
 */
import { useLocation, useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useLoopsNow } from './looping';
import { PRODUCT, titleOf } from './title-of';
import { useWaiting } from './waiting';

export function PageTitle() {
  const loops = useLoopsNow();
  const waiting = useWaiting();
  const count = new Set([...loops.keys(), ...(waiting?.keys() ?? [])]).size;
  const path = useLocation({ select: ({ pathname }) => pathname });
  const params = useParams({ strict: false });
  const title = titleOf(path, params);
  useEffect(() => {
    document.title = count > 0 ? `(${count}) ${title}` : title;
    // Whoever has logged out sees nothing of it.
    return () => {
      document.title = PRODUCT;
    };
  }, [count, title]);
  return null;
}
