/**
 * Asks the gateway for the time now and then: a page that is only looked at asks it nothing else. Were the clock of either of
 * them set meanwhile, every age would be wrong by as much, and a loop in words be over before it is.
 */
import { useEffect } from 'react';
import { MINUTE_MS } from '#kernel/duration';
import { api } from '../api';

const ASK_EVERY_MS = 5 * MINUTE_MS;

export function useGatewayTime(): void {
  useEffect(() => {
    // Every answer tells the time; where none comes, the page says so itself.
    const timer = setInterval(() => void api.get('/healthz').catch(() => {}), ASK_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
}
