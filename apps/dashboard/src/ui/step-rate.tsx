/** Steps per minute of something that may have fallen silent: what it did in its last minute is no rate of this one. */
import { MINUTE_MS } from '#kernel/duration';
import { useNow } from './now';

interface StepRateProps {
  /** Over the minute before `lastSeenMs`. */
  perMinute: number;
  lastSeenMs: number;
}

/** Whole steps; 0 once its last one is a minute ago. */
export const stepRate = ({ perMinute, lastSeenMs }: StepRateProps, nowMs: number): number =>
  nowMs - lastSeenMs >= MINUTE_MS ? 0 : Math.round(perMinute);

export const StepRate = (props: StepRateProps) => useNow((nowMs) => stepRate(props, nowMs));
