/** What an operator's rewrite makes of a held step. The envelope's `rewritten_by` is the store's to write. */
import type { DecisionLog } from '#contracts';

/** Replaces `action.tool_input` and marks the step; everything else the agent said stays. Pure. */
export function rewriteHeld(log: DecisionLog, newContent: string | Record<string, unknown>): DecisionLog {
  return {
    ...log,
    action: { ...log.action, tool_input: newContent },
    control: { ...log.control, interrupt_signal: 'rewrite' },
  };
}
