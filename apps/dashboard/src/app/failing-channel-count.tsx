/** Through how many channels alerts do not get out, as a red number in the navigation: who waits for a page hears nothing. */
import { useQuery } from '@tanstack/react-query';
import { channelsQuery, isChannelFailing } from '../api';
import { CountBadge } from './count-badge';

export function FailingChannelCount({ className }: { className?: string | undefined }) {
  const { data = [] } = useQuery(channelsQuery);
  return <CountBadge count={data.filter(isChannelFailing).length} noun="failing" className={className} />;
}
