/** One row per session that has an alert, whichever detector raised it. Pure. */
import type { AlertGroup, SessionView } from '#contracts';
import { type Repeat, repeatOf } from '../semantic-loops/loop-texts';
import { orderAlerts } from './open-alerts';
import { type Policies, restOf } from './rest';
import { orderSemanticAlerts, type SemanticAlert } from './semantic-alerts';

export type AlertRowData =
  | { session_id: string; kind: 'entropy'; group: AlertGroup; repeat: Repeat | null }
  | { session_id: string; kind: 'semantic'; alert: SemanticAlert };

type Groups = ReadonlyMap<string, AlertGroup>;
type Alerts = ReadonlyMap<string, SemanticAlert>;

/** What burns comes before what is stopped or silent; within both, entropy alerts before semantic ones. */
export function orderAlertRows(
  groups: Groups,
  alerts: Alerts,
  sessions: ReadonlyMap<string, SessionView>,
  policies: Policies,
  nowMs: number,
): AlertRowData[] {
  const entropy = orderAlerts(groups.values(), sessions);
  const entropyIds = new Set(entropy.map(({ session_id }) => session_id));
  const semantic = orderSemanticAlerts(alerts.values(), sessions, entropyIds, nowMs);
  const rows = [...entropy.map((group) => entropyRow(group, alerts)), ...semantic.map(semanticRow)];
  const burns = ({ session_id }: AlertRowData): boolean =>
    restOf(sessions.get(session_id), policies) === null;
  return [...rows.filter(burns), ...rows.filter((row) => !burns(row))];
}

/** Also the rows that are over, by session: one that is pointed at stays. @param ordered these as they are */
export function allAlertRows(
  groups: Groups,
  alerts: Alerts,
  ordered: readonly AlertRowData[],
): Map<string, AlertRowData> {
  const rows = new Map<string, AlertRowData>();
  for (const alert of alerts.values()) rows.set(alert.session_id, semanticRow(alert));
  for (const group of groups.values()) rows.set(group.session_id, entropyRow(group, alerts));
  for (const row of ordered) rows.set(row.session_id, row);
  return rows;
}

function entropyRow(group: AlertGroup, alerts: Alerts): AlertRowData {
  const alert = alerts.get(group.session_id);
  return {
    session_id: group.session_id,
    kind: 'entropy',
    group,
    repeat: alert ? repeatOf(alert.latest) : null,
  };
}

const semanticRow = (alert: SemanticAlert): AlertRowData => ({
  session_id: alert.session_id,
  kind: 'semantic',
  alert,
});
