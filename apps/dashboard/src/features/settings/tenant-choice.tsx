/** The tenant that this browser's login looks at and acts for; who has one only is shown it. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { ALL_TENANTS, type Me, type Page } from '#contracts';
import { api } from '../../api';
import { beginAs } from '../../app/one-login';
import { Select } from '../../ui';

export function TenantChoice({ me }: { me: Me }) {
  // Only those who manage access may ask which there are; others are told theirs by name with the login.
  const mayAsk = me.tenant_ids.includes(ALL_TENANTS) && me.permissions.includes('manage_access');
  const known = useQuery({
    queryKey: ['tenants'],
    queryFn: () => api.get<Page<string>>('/v1/tenants'),
    enabled: mayAsk,
    staleTime: 0,
  }).data;
  const { mutate, isPending, error } = useMutation({
    mutationFn: (tenant_id: string) => api.post<Me>('/v1/auth/tenant', { tenant_id }),
    onSuccess: beginAs,
  });
  const own = me.tenant_ids.filter((tenantId) => tenantId !== ALL_TENANTS);
  const tenantIds = [...new Set([...own, ...(known?.items ?? []), me.tenant_id])].sort();
  if (tenantIds.length === 1) return <>{me.tenant_id}</>;
  return (
    <>
      <Select
        label="Tenant"
        value={me.tenant_id}
        options={tenantIds.map((tenantId) => ({ value: tenantId, label: tenantId }))}
        disabled={isPending}
        onChange={(tenantId) => {
          if (tenantId !== me.tenant_id) mutate(tenantId);
        }}
      />
      {error ? (
        <p role="alert" className="mt-1 text-danger text-xs">
          Not changed: {error.message}
        </p>
      ) : null}
    </>
  );
}
