/** `session:{id}`: one session whole, for the inspect page. */
import type { SessionDetail, SessionEvent, StepView } from '#contracts';
import type { TopicMerge } from '../topic-merge';

/** Steps kept in memory while the page is open; older ones can be loaded again. */
export const STEPS_COUNT_MAX = 2_000;

export interface SessionData extends SessionDetail {
  /** Retention has deleted it since: what was read of it before is still here, and nowhere else. One of its id that begins is read anew. */
  isDeleted?: boolean;
}

export const sessionDetailMerge: TopicMerge<SessionData, SessionDetail, SessionEvent> = {
  start: (snapshot) => snapshot,
  apply: (data, events) => events.reduce(applySessionEvent, data),
};

function applySessionEvent(detail: SessionData, event: SessionEvent): SessionData {
  switch (event.kind) {
    case 'deleted':
      return { ...detail, isDeleted: true };
    case 'step':
      return { ...detail, steps: putStep(detail.steps, event.step), window: event.window };
    case 'held':
      return { ...detail, held: putStep(detail.held, event.step) };
    case 'released':
      return release(detail, new Set(event.trace_ids));
    case 'rewritten':
      return {
        ...detail,
        steps: replaceStep(detail.steps, event.step),
        held: replaceStep(detail.held, event.step),
      };
    case 'alert':
      return { ...detail, alert: event.alert };
    case 'control':
      return {
        ...detail,
        directives: event.directives,
        session: { ...detail.session, control: event.control },
      };
    case 'audit':
      return detail.audit.some((entry) => entry.seq === event.entry.seq)
        ? detail
        : { ...detail, audit: [...detail.audit, event.entry] };
    case 'semantic_loop':
      return detail.semantic_loops.some(({ event_id }) => event_id === event.event.event_id)
        ? detail
        : { ...detail, semantic_loops: [...detail.semantic_loops, event.event] };
    case 'session':
      return { ...detail, session: event.session };
    default:
      // A newer gateway may send kinds that this page does not know yet.
      return detail;
  }
}

/** Inserts by the store's sequence number, or replaces the step of the same number. */
function putStep(steps: StepView[], step: StepView): StepView[] {
  const { seq } = step.gateway;
  let at = steps.length;
  while (at > 0 && (steps[at - 1] as StepView).gateway.seq > seq) at -= 1;
  const isKnown = at > 0 && (steps[at - 1] as StepView).gateway.seq === seq;
  const next = isKnown ? steps.with(at - 1, step) : steps.toSpliced(at, 0, step);
  return next.length > STEPS_COUNT_MAX ? next.slice(-STEPS_COUNT_MAX) : next;
}

function replaceStep(steps: StepView[], step: StepView): StepView[] {
  return steps.map((known) => (known.gateway.seq === step.gateway.seq ? step : known));
}

/** Held steps become ordinary ones, at the place where they were received. */
function release(detail: SessionDetail, traceIds: ReadonlySet<string>): SessionDetail {
  const isReleased = (step: StepView) => traceIds.has(step.meta.trace_id);
  const steps = detail.held
    .filter(isReleased)
    .reduce(
      (all, step) => putStep(all, { ...step, gateway: { ...step.gateway, held: false } }),
      detail.steps,
    );
  return { ...detail, steps, held: detail.held.filter((step) => !isReleased(step)) };
}
