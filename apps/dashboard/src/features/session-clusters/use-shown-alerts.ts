/** The rows of the alerts panel, and which of them hold still while somebody points at it. */
import { useMemo, useRef } from 'react';
import type { AlertGroup } from '#contracts';
import { MINUTE_MS } from '#kernel/duration';
import { type SessionsData, useTopic } from '../../realtime';
import { useNow } from '../../ui';
import { type AlertRowData, allAlertRows, orderAlertRows } from './alert-rows';
import { holdAlerts } from './open-alerts';
import type { Policies } from './rest';
import { goingOn, groupSemanticLoops, type SemanticAlert } from './semantic-alerts';

const NO_ALERTS: ReadonlyMap<string, SemanticAlert> = new Map();

export interface ShownAlerts {
  rows: AlertRowData[];
  /** The semantic alerts that go on, by session; null until they are known. */
  semanticGoingOn: ReadonlyMap<string, SemanticAlert> | null;
}

/** @param isPointed the pointer is on the panel: no row moves or goes */
export function useShownAlerts(
  groups: ReadonlyMap<string, AlertGroup>,
  sessions: SessionsData,
  policies: Policies,
  isPointed: boolean,
): ShownAlerts {
  const { data } = useTopic('gateway:semantic_loops');
  const semanticBySession = useMemo(() => data && groupSemanticLoops(data), [data]);
  const semantic = semanticBySession ?? NO_ALERTS;
  // Alerts end by the clock, too: once a minute is close enough.
  const minute = useNow((nowMs) => Math.floor(nowMs / MINUTE_MS));
  const semanticGoingOn = useMemo(
    () => semanticBySession && goingOn(semanticBySession, sessions, minute * MINUTE_MS),
    [semanticBySession, sessions, minute],
  );
  const ordered = orderAlertRows(groups, semantic, sessions, policies, minute * MINUTE_MS);
  const shownIds = useRef<string[]>([]);
  const rows = isPointed
    ? holdAlerts(shownIds.current, ordered, allAlertRows(groups, semantic, ordered))
    : ordered;
  shownIds.current = rows.map(({ session_id }) => session_id);
  return { rows, semanticGoingOn };
}
