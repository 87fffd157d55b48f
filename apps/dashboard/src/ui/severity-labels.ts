/** What a step's or session's severity is called on every page: in the words of the API and its settings. */
import type { Severity } from '#contracts';

export const SEVERITY_LABELS: Record<Severity, string> = {
  normal: 'Normal',
  warning: 'Warning',
  loop: 'Loop',
};
