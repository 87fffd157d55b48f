import { ObservatoryError } from '#contracts';

/** What the store refused it will take once it has room: it has written nothing of it. */
export const hasNoRoomYet = (error: unknown): error is ObservatoryError =>
  error instanceof ObservatoryError && (error.code === 'store_busy' || error.code === 'store_full');
