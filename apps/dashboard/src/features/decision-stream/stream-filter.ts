/**
 * What the stream shows, in the address. The text is words, each of which must occur somewhere in the step; a word
 * such as `agent:planner` looks in one place only.
 */
import { ACTION_STATUSES, type ActionStatus, SEVERITIES, type Severity, type StepView } from '#contracts';

const STREAM_TABS = ['messages', 'violations'] as const;
export type StreamTab = (typeof STREAM_TABS)[number];

export interface StreamSearch {
  tab: StreamTab;
  q: string;
  /** Exact ids, set from a row; "" = all. */
  agent: string;
  session: string;
  tool: string;
  status: ActionStatus | '';
  severity: Severity | '';
}

export type StreamFilter = Omit<StreamSearch, 'tab'>;

const text = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

/** Never throws; unknown values fall away. */
export function parseStreamSearch(search: Record<string, unknown>): StreamSearch {
  return {
    tab: search.tab === 'violations' ? 'violations' : 'messages',
    q: text(search.q),
    agent: text(search.agent),
    session: text(search.session),
    tool: text(search.tool),
    status: ACTION_STATUSES.find((status) => status === search.status) ?? '',
    severity: SEVERITIES.find((severity) => severity === search.severity) ?? '',
  };
}

/** The address's members; defaults are left out. */
export function writeStreamSearch({ tab, ...filter }: StreamSearch): Record<string, string | undefined> {
  const members = Object.entries(filter).map(([name, value]) => [name, value || undefined] as const);
  return { ...Object.fromEntries(members), tab: tab === 'messages' ? undefined : tab };
}

export const isStreamFiltered = ({ q, agent, session, tool, status, severity }: StreamFilter): boolean =>
  [q.trim(), agent, session, tool, status, severity].some((value) => value !== '');

type Place = 'agent' | 'session' | 'tool' | 'status' | 'severity' | 'intent';

const placesOf = (step: StepView): Record<Place, string> => ({
  agent: step.identity.agent_id,
  session: step.gateway.session_id,
  tool: step.action.tool_call ?? '',
  status: step.action.status,
  severity: step.cognition.entropy_severity ?? '',
  intent: step.cognition.intent,
});

interface Word {
  place: Place | null;
  text: string;
}

const isPlace = (name: string): name is Place =>
  ['agent', 'session', 'tool', 'status', 'severity', 'intent'].includes(name);

export function parseWords(q: string): Word[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return words.map((word) => {
    const colon = word.indexOf(':');
    const place = word.slice(0, Math.max(0, colon));
    return isPlace(place) ? { place, text: word.slice(colon + 1) } : { place: null, text: word };
  });
}

/** Made once per change of the filter, called once per step. */
export function streamMatcher(filter: StreamFilter): (step: StepView) => boolean {
  const words = parseWords(filter.q);
  return (step) => {
    const places = placesOf(step);
    if (filter.agent && places.agent !== filter.agent) return false;
    if (filter.session && places.session !== filter.session) return false;
    if (filter.tool && places.tool !== filter.tool) return false;
    if (filter.status && places.status !== filter.status) return false;
    if (filter.severity && places.severity !== filter.severity) return false;
    return words.every(({ place, text: wanted }) => {
      if (place) return places[place].toLowerCase().includes(wanted);
      return (
        Object.values(places).some((value) => value.toLowerCase().includes(wanted)) ||
        step.meta.trace_id.toLowerCase().includes(wanted)
      );
    });
  };
}
