/** Somewhat more than it takes to see that a button has become another, and to stop the finger. */
export const SETTLE_MS = 600;

/** The value once it has not changed for `ms`; until then the one that last did so. */
import { useEffect, useState } from 'react';

export function useRested<T>(value: T, ms: number): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(() => value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return rested;
}
