/** Where alerts go, as the Alerts page lists it and as the navigation says that one fails. */
import type { AlertChannel } from '#contracts';
import { api } from './client';

export const CHANNELS_KEY = ['alert-channels'];
const REFRESH_MS = 15_000;

/**
 * The navigation asks on every page, so a page that is only looked at is also told the time with each answer: once its clock or the
 * gateway's is set, every age on it would be wrong by as much, and a loop in words be over before it is.
 */
export const channelsQuery = {
  queryKey: CHANNELS_KEY,
  queryFn: async () => (await api.get<{ items: AlertChannel[] }>('/v1/alert-channels')).items,
  refetchInterval: REFRESH_MS,
  // A channel may have been made in another tab, for the rule that is begun in this one.
  refetchOnWindowFocus: true,
  staleTime: 0,
};

/** Its receiver does not take what is sent: nobody hears of anything there. */
export const isChannelFailing = ({ circuit: { state } }: AlertChannel): boolean =>
  state === 'open' || state === 'refusing';
