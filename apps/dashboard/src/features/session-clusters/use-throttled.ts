import { useEffect, useRef, useState } from 'react';

/** The latest value, at most once per `intervalMs`: for work too heavy to do on every frame. */
export function useThrottled<T>(value: T, intervalMs: number): T {
  const [taken, setTaken] = useState(value);
  const takenAtMs = useRef(0);
  useEffect(() => {
    const wait = Math.max(0, takenAtMs.current + intervalMs - performance.now());
    const timer = setTimeout(() => {
      takenAtMs.current = performance.now();
      setTaken(value);
    }, wait);
    // A newer value within the interval replaces this one; the deadline stays, so a busy feed cannot starve it.
    return () => clearTimeout(timer);
  }, [value, intervalMs]);
  return taken;
}
