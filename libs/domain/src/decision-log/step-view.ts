/** A stored step as it goes out: the DecisionLog, and beside it what only the gateway knows. */
import type { StepView, StoredStep } from '#contracts';

/** Shares the log's objects with the step; neither may be changed afterwards. */
export const stepViewOf = (step: StoredStep): StepView => ({
  // Section by section: this runs for every message, and a spread asks each log anew what it has.
  meta: step.log.meta,
  identity: step.log.identity,
  cognition: step.log.cognition,
  action: step.log.action,
  state_delta: step.log.state_delta,
  control: step.log.control,
  gateway: {
    seq: step.seq,
    session_id: step.session_id,
    received_at_ms: step.received_at_ms,
    window_size: step.window_size,
    held: step.held,
    rewritten_by: step.rewritten_by,
  },
});
