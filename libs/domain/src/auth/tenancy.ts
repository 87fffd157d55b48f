/** Which tenants an operator may act for. */
import { ALL_TENANTS, DEFAULT_TENANT, tenantIdSchema } from '#contracts';

export const hasAllTenants = (tenantIds: readonly string[]): boolean => tenantIds.includes(ALL_TENANTS);

/** False for anything that is not a tenant id, also for an operator of every tenant. */
export const mayActFor = (tenantIds: readonly string[], tenantId: string): boolean =>
  tenantIdSchema.safeParse(tenantId).success && (hasAllTenants(tenantIds) || tenantIds.includes(tenantId));

/** True when every tenant of `inner` is one of `outer`: only then may the one grant or revoke the other. */
export const coversTenants = (outer: readonly string[], inner: readonly string[]): boolean =>
  hasAllTenants(outer) || inner.every((tenantId) => outer.includes(tenantId));

/** The tenant of an operator who names none: `default` if it may, else its first. */
export function homeTenant(tenantIds: readonly string[]): string {
  if (hasAllTenants(tenantIds) || tenantIds.includes(DEFAULT_TENANT)) return DEFAULT_TENANT;
  return tenantIds[0] ?? DEFAULT_TENANT;
}
