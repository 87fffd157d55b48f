/** The latest value, at most once in `intervalMs`; 0 = always the latest. The first and the last always come through. */
import { useEffect, useRef, useState } from 'react';

export function useThrottled<T>(value: T, intervalMs: number): T {
  const [shown, setShown] = useState(value);
  const shownAt = useRef(Number.NEGATIVE_INFINITY);
  // From which it goes on when it becomes slower.
  if (intervalMs === 0 && !Object.is(shown, value)) setShown(() => value);
  useEffect(() => {
    if (intervalMs === 0) return;
    const waitMs = Math.max(0, shownAt.current + intervalMs - performance.now());
    const timer = setTimeout(() => {
      shownAt.current = performance.now();
      setShown(value);
    }, waitMs);
    return () => clearTimeout(timer);
  }, [value, intervalMs]);
  return intervalMs === 0 ? value : shown;
}
