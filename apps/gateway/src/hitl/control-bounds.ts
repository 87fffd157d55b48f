/**
 * How many sessions may be under control at once. Agents bring sessions under control by themselves, with
 * `hitl_required`, so a share ends what those of one tenant can take, and a reserve keeps room for operators. Theirs ends
 * too: what they command to sessions that never come back waits for good.
 */
import { LIMITS } from '#contracts';

export interface ControlBounds {
  /** Over all tenants. */
  controlsMax: number;
  /** Of these, what only operators' commands may take. */
  controlsReservedForOperators: number;
  /** Of one tenant, whoever commanded. */
  controlsPerTenantMax: number;
  /** Of one tenant, by pauses that nobody commanded. */
  systemPausesPerTenantMax: number;
  /** Terminated ones in memory; of a further one the store is asked. */
  terminatedKeptMax: number;
}

export const CONTROL_BOUNDS: ControlBounds = {
  controlsMax: 100_000,
  controlsReservedForOperators: 10_000,
  controlsPerTenantMax: 50_000,
  systemPausesPerTenantMax: LIMITS.systemPausesPerTenantMax,
  terminatedKeptMax: 100_000,
};

/** A bound that was met. */
export type ControlBound = 'controlsMax' | 'controlsPerTenantMax' | 'systemPausesPerTenantMax';

/** Public: which bound was met, and what makes room. */
export const BOUND_MET: Record<ControlBound, string> = {
  controlsMax:
    'Too many sessions are under control at once (controlsMax); there is room once operators resume or terminate some.',
  controlsPerTenantMax:
    'Too many sessions of this tenant are under control at once (controlsPerTenantMax); ' +
    'there is room once operators resume or terminate some.',
  systemPausesPerTenantMax:
    'Too many sessions of this tenant wait for a person already (systemPausesPerTenantMax); ' +
    'there is room once operators resume or terminate some.',
};
