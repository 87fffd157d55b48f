/** Whether a list still waits for what would push it down if it came later. */
import { useEffect, useState } from 'react';

/** Then the list is worth more than that nothing moves. */
const WAIT_MS_MAX = 5_000;

/** @returns false as soon as nothing is on its way, or it has taken too long */
export function useWaitsFor(isOnItsWay: boolean): boolean {
  const [isLate, setIsLate] = useState(false);
  useEffect(() => {
    if (!isOnItsWay) return;
    const timer = setTimeout(() => setIsLate(true), WAIT_MS_MAX);
    return () => clearTimeout(timer);
  }, [isOnItsWay]);
  return isOnItsWay && !isLate;
}
