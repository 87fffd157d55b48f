/** In which of several tenants one is, and the way to another, on every page. */
import { Select, SinceNote } from '../ui';
import { useGoToTenant } from './tenants';

interface TenantChoiceProps {
  tenantId: string;
  tenantIds: readonly string[];
}

export function TenantChoice({ tenantId, tenantIds }: TenantChoiceProps) {
  const { mutate, isPending, error } = useGoToTenant();
  return (
    <div className="min-w-0">
      <Select
        label="Tenant"
        value={tenantId}
        options={tenantIds.map((each) => ({ value: each, label: each }))}
        disabled={isPending}
        className="w-full min-w-0 [&>:first-child]:truncate"
        onChange={(next) => {
          if (next !== tenantId) mutate(next);
        }}
      />
      {error ? (
        <p role="alert" className="mt-1 text-danger text-xs">
          Not changed: {error.message}
          <SinceNote />
        </p>
      ) : null}
    </div>
  );
}
