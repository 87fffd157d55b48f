import type { NamedWindow } from '#domain/policy';

/** What was taken for a call before it was sent. */
export interface TakenLimits {
  windows: readonly NamedWindow[];
  atMs: number;
  costMicroUsd: number | null;
}
