/**
 * Lays the steps of a session out as a graph of causes, oldest at the top, one row per step; a chain keeps its lane, a
 * step that shares its parent with an earlier one opens another.
 *
 *     o     row 0, lane 0
 *     o     row 1, lane 0, parent 0
 *     | o   row 2, lane 1, parent 0
 *     o |   row 3, lane 0, parent 1
 *
 * Pure; O(steps x lanes).
 */
import type { StepView } from '#contracts';

export interface CausalRow {
  step: StepView;
  lane: number;
  /** Row of the parent; null for a root and for a parent that is not among these steps. */
  parentRow: number | null;
  /** It names a parent that is not here: another session's step, or an older one. */
  hasForeignParent: boolean;
}

export interface CausalLayout {
  rows: CausalRow[];
  laneCount: number;
}

/** @param steps oldest first */
export function layoutCauses(steps: readonly StepView[]): CausalLayout {
  const rowOf = new Map(steps.map((step, row) => [step.meta.trace_id, row]));
  const parents = steps.map((step, row) => {
    const parent = step.meta.parent_step_id ? rowOf.get(step.meta.parent_step_id) : undefined;
    // A parent that comes later, or is the step itself, cannot have caused it.
    return parent !== undefined && parent < row ? parent : null;
  });
  const lastChildRow = new Map<number, number>();
  parents.forEach((parent, row) => {
    if (parent !== null) lastChildRow.set(parent, row);
  });

  const rows: CausalRow[] = [];
  /** Per lane, the row of its newest step. */
  const tips: (number | null)[] = [];
  steps.forEach((step, row) => {
    const parentRow = parents[row] ?? null;
    const isFree = (tip: number | null) => tip === null || (lastChildRow.get(tip) ?? -1) < row;
    const inherited = parentRow === null ? -1 : tips.indexOf(parentRow);
    const free = inherited === -1 ? tips.findIndex(isFree) : inherited;
    const lane = free === -1 ? tips.length : free;
    tips[lane] = row;
    rows.push({
      step,
      lane,
      parentRow,
      hasForeignParent: parentRow === null && Boolean(step.meta.parent_step_id),
    });
  });
  return { rows, laneCount: tips.length };
}
