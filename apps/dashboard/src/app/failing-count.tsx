/**
 * What fails, as a red number in the navigation: at Alerts the channels through which nobody hears of anything, at System the vendors
 * that take no calls, what the gateway is without and why it is not ready. Counted where a query reads its answer: one of another shape, as an older gateway or
 * something in front of it gives, costs the number and no page.
 */
import { useQuery } from '@tanstack/react-query';
import type { AlertChannel, SystemView } from '#contracts';
import { channelsQuery, failingUpstreams, isChannelFailing, missingPartCount, systemQuery } from '../api';
import { CountBadge } from './count-badge';

interface FailingCountProps {
  at: readonly ('/alerts' | '/system')[];
  className?: string | undefined;
}

export function FailingCount({ at, className }: FailingCountProps) {
  const { data: channelCount = 0 } = useQuery({ ...channelsQuery, select: failingChannelCount });
  const { data: partCount = 0 } = useQuery({ ...systemQuery, select: failingPartCount });
  const counts = { '/alerts': channelCount, '/system': partCount };
  const count = at.reduce((sum, place) => sum + counts[place], 0);
  return <CountBadge count={count} noun="failing" className={className} />;
}

const failingChannelCount = (channels: readonly AlertChannel[]): number =>
  channels.filter(isChannelFailing).length;

const failingPartCount = ({ view }: { view: SystemView }): number =>
  failingUpstreams(view).length + missingPartCount(view) + view.not_ready.length;
