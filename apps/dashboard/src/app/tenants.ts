/** The tenants that this browser's login may look at and act for, and going over to another. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { ALL_TENANTS, type Me, type Page } from '#contracts';
import { api, useMe } from '../api';
import { beginAs } from './one-login';

/** By name; none until it is known who asks. */
export function useTenantIds(): string[] {
  const me = useMe();
  // Only those who manage access may ask which there are; others are told theirs by name with the login.
  const mayAsk = me?.tenant_ids.includes(ALL_TENANTS) && me.permissions.includes('manage_access');
  const known = useQuery({
    queryKey: ['tenants'],
    queryFn: () => api.get<Page<string>>('/v1/tenants'),
    enabled: mayAsk === true,
    staleTime: 0,
  }).data;
  if (!me) return [];
  const own = me.tenant_ids.filter((tenantId) => tenantId !== ALL_TENANTS);
  return [...new Set([...own, ...(known?.items ?? []), me.tenant_id])].sort();
}

/**
 * Every tab of the browser begins anew in that tenant.
 *
 * @param onError for whoever is gone by then
 */
export const useGoToTenant = (onError?: (error: Error) => void) =>
  useMutation({
    ...(onError ? { onError } : {}),
    mutationFn: (tenant_id: string) => api.post<Me>('/v1/auth/tenant', { tenant_id }),
    onSuccess: beginAs,
  });
