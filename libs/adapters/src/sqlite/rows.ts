/** Rows as the database holds them <-> what the port promises. JSON is parsed here, on the caller's side. */
import type {
  AuditEntry,
  DecisionLog,
  EntropyAlertEvent,
  SessionView,
  StoredStep,
  StoredViolation,
} from '#contracts';
import type { Primitive, RawAudit, RawEvent, RawSession, RawStep } from './protocol.js';

export function toStoredStep({ body, held, ...columns }: RawStep): StoredStep {
  const log: DecisionLog = JSON.parse(body);
  // What could not be scored keeps what its agent reported, if anything.
  if (columns.window_size > 0) log.cognition.entropy_score = columns.entropy_score;
  log.cognition.entropy_severity = columns.entropy_severity;
  return { ...columns, held: held === 1, log, body_chars: body.length };
}

export function toSessionView(row: RawSession): SessionView {
  const view: SessionView = JSON.parse(row.view);
  // Rows of earlier versions do not say: one at zero was told no cost, and who asked is said by the control's own row.
  view.cost_unknown ??= view.cost_usd === 0;
  view.control.asked_by ??= [];
  view.refused_call ??= null;
  return view;
}

export const toAlert = (row: RawEvent): EntropyAlertEvent & { seq: number } => ({
  ...JSON.parse(row.event),
  seq: row.seq,
});

export const toViolation = (row: RawEvent): StoredViolation => ({ ...JSON.parse(row.event), seq: row.seq });

export const toAuditEntry = ({ body, prev_hash, hash, ...row }: RawAudit): AuditEntry => ({
  ...row,
  detail: JSON.parse(body),
  prev_hash,
  hash,
});

/** Pushes a session's values in the order of SESSION_COLUMNS. */
export function pushSession(values: Primitive[], tenantId: string, view: SessionView): void {
  values.push(
    tenantId,
    view.session_id,
    view.agent_id,
    view.severity,
    view.ended ? 1 : 0,
    view.last_seen_ms,
    foldCase([view.session_id, view.agent_id, view.last_intent, view.last_tool].join('\n')),
    JSON.stringify(view),
  );
}

/** The same on what is stored and on what is searched for, so that letters beyond ASCII match too. */
export const foldCase = (text: string): string => text.toLowerCase();
