/** Who is logged in and what they may do. Permission is checked where a control is drawn, and again by the gateway. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import { ALL_TENANTS, type Me, type Permission } from '#contracts';
import { api } from './client';

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: () => api.get<Me>('/v1/auth/me'),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Undefined only while the first answer is on its way; the shell is drawn after it. */
export const useMe = (): Me | undefined => useQuery(meQuery).data;

const DENIALS: Record<Permission, string> = {
  observe: 'Your role may not see this.',
  command: 'Your role is viewer: ask an operator to do this.',
  configure: 'Only an administrator may change settings.',
  manage_access: 'Only an administrator may manage access.',
};

/** Null when allowed, else the sentence to show: made for Button's `disabledReason`. */
export function useDenial(permission: Permission): string | null {
  const me = useMe();
  return me?.permissions.includes(permission) ? null : DENIALS[permission];
}

/** As `useDenial('configure')`, of what holds for every tenant at once. */
export function useDenialForAllTenants(): string | null {
  const denial = useDenial('configure');
  const hasAll = useMe()?.tenant_ids.includes(ALL_TENANTS);
  return (
    denial ??
    (hasAll ? null : 'These settings hold for every tenant; only an administrator of all may change them.')
  );
}
