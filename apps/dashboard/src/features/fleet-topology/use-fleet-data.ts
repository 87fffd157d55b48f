/** The live map with what is known of its loops. */
import { useMemo, useRef } from 'react';
import { useLoopsNow } from '../../app/looping';
import { type SessionsData, useTopic } from '../../realtime';
import { useThrottled } from '../../ui';
import { usePolicies } from '../session-clusters/use-policies';
import { type FleetData, fleetData } from './fleet-nodes';

/** A map of more agents than this is redrawn at most every CROWD_REDRAW_MS. */
const CROWD_MIN = 300;
const CROWD_REDRAW_MS = 1_500;

const NO_SESSIONS: SessionsData = new Map();

/** `data` is the same object as long as nothing on the map changes; null until it is known. */
export function useFleetData() {
  const { data, refusal } = useTopic('gateway:topology');
  const redrawMs = (data?.nodes.size ?? 0) > CROWD_MIN ? CROWD_REDRAW_MS : 0;
  const topology = useThrottled(data, redrawMs);
  const sessions = useThrottled(useTopic('gateway:sessions').data, redrawMs) ?? NO_SESSIONS;
  const policies = useThrottled(usePolicies(), redrawMs);
  const loops = useThrottled(useLoopsNow(), redrawMs);
  const before = useRef<FleetData | null>(null);
  const fleet = useMemo(() => {
    if (topology) before.current = fleetData(topology, { sessions, policies, loops }, before.current);
    return topology ? before.current : null;
  }, [topology, sessions, policies, loops]);
  return { data: fleet, refusal };
}
