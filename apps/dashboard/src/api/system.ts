/** What the gateway leans on, as the System page shows it and as the navigation says that a part of it fails. */
import type { SystemView, UpstreamHealth } from '#contracts';
import { api } from './client';
import { gatewayNowMs } from './gateway-clock';

const REFRESH_MS = 15_000;

export const systemQuery = {
  queryKey: ['system'],
  queryFn: async () => ({ view: await api.get<SystemView>('/v1/system'), atMs: gatewayNowMs() }),
  refetchInterval: REFRESH_MS,
  refetchOnWindowFocus: true,
  staleTime: 0,
  retry: false,
};

export const failingUpstreams = ({ upstreams }: Pick<SystemView, 'upstreams'>): UpstreamHealth[] =>
  upstreams.filter(({ state }) => state === 'failing');

/** Its disk is full, fails or hangs, or another program holds it. */
export const takesNothing = ({ not_ready }: Pick<SystemView, 'not_ready'>): boolean =>
  not_ready.some((reason) => reason.startsWith('store: '));

/** Of its own: calls go on without them. */
export const missingPartCount = ({ sidecar, redis }: Pick<SystemView, 'sidecar' | 'redis'>): number =>
  Number(sidecar.state === 'down' || sidecar.store_problem !== null) +
  Number(redis.configured && !redis.connected);
