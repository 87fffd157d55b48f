/** Why two texts must not be taken for the same question, however near their vectors. */
import type { TextVeto } from '#contracts';

export type TextGate = (
  earlier: string,
  later: string,
  options: { strict: boolean; oneAnswer?: boolean },
) => TextVeto | null;
