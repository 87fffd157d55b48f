/**
 * What fails, as a red number in the navigation: at Alerts the channels through which nobody hears of anything, at System the vendors
 * that take no calls and what the gateway is without.
 */
import { useQuery } from '@tanstack/react-query';
import { channelsQuery, failingUpstreams, isChannelFailing, missingPartCount, systemQuery } from '../api';
import { CountBadge } from './count-badge';

interface FailingCountProps {
  at: readonly ('/alerts' | '/system')[];
  className?: string | undefined;
}

export function FailingCount({ at, className }: FailingCountProps) {
  const { data: channels = [] } = useQuery(channelsQuery);
  const { data: system } = useQuery(systemQuery);
  const counts = {
    '/alerts': channels.filter(isChannelFailing).length,
    '/system': system ? failingUpstreams(system.view).length + missingPartCount(system.view) : 0,
  };
  const count = at.reduce((sum, place) => sum + counts[place], 0);
  return <CountBadge count={count} noun="failing" className={className} />;
}
