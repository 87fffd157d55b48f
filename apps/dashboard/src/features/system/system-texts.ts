/** The state of the gateway's parts in words that help at three in the morning: what it means for agents. Pure. */
import type { LimiterFailure, SystemView } from '#contracts';
import type { CountLine, Tone } from '../../ui';
import { formatCount } from '../../ui/format';

type Sidecar = SystemView['sidecar'];

export interface SidecarText {
  label: string;
  tone: Tone;
  /** What it means for agents, and what happens by itself. */
  meaning: string;
  /** What a person can do; null: nothing, or nothing is needed. */
  advice: string | null;
}

export function sidecarText({
  state,
  is_supervised,
  store_problem,
}: Pick<Sidecar, 'state' | 'is_supervised' | 'store_problem'>): SidecarText {
  switch (state) {
    case 'serving':
      if (store_problem !== null) return withoutStore(is_supervised);
      return {
        label: 'Serving',
        tone: 'success',
        meaning: 'It makes prompts comparable: for semantic loops, and for a cache that uses its model.',
        advice: null,
      };
    case 'starting':
      return {
        label: 'Starting',
        tone: 'warning',
        meaning: 'Calls go on without it. Checks begin by themselves as soon as it answers.',
        advice: null,
      };
    case 'down':
      return {
        label: 'Down',
        tone: 'danger',
        meaning:
          'Calls go on without it: none is refused or kept waiting. Until it is back, sessions that ask the same in other words are not noticed, and the cache finds exact matches only. Kill switch, entropy and limits work as before.',
        advice: is_supervised
          ? 'This gateway keeps starting it again. If that goes on failing, its last words are here and in the gateway’s log.'
          : 'It runs on its own: start it there, or check LOOP_EMBEDDING_SIDECAR_UDS.',
      };
    case 'off':
      return {
        label: 'Off',
        tone: 'neutral',
        meaning: 'Semantic loops are not looked for, and the cache does not need it. All other guards work.',
        advice: 'Start the gateway with LOOP_DETECTION_ENABLED=true to switch it on.',
      };
  }
}

/** Why the gateway is not ready, and what holds meanwhile. @param reason as `/readyz` says it */
export function notReadyText(reason: string): string {
  if (reason.startsWith('store: '))
    return `The database takes nothing (${reason.slice('store: '.length)}): its disk is full, fails or hangs, or another program holds it. Steps that agents post are refused, and pauses, terminations and settings may be. Calls through the proxy go on, and the kill switch with them. You can still stop an agent, or all of them: that is in force at once. All of it goes on by itself as soon as the database takes writes.`;
  if (reason === 'draining') return 'It is ending: calls under way are finished, and no new ones are taken.';
  return `No more connections: ${reason}.`;
}

const withoutStore = (isSupervised: boolean): SidecarText => ({
  label: 'Serving, without its store',
  tone: 'warning',
  meaning:
    'It gives vectors, but cannot keep or compare prompts. Calls go on without the check: until its store is back, sessions that ask the same in other words are not noticed.',
  advice: `Look at the Redis that ${isSupervised ? 'LOOP_EMBEDDING_REDIS_URL' : 'REDIS_URL of the sidecar'} names. Checks begin by themselves as soon as it serves.`,
});

/** In the order in which they are read; others follow as they come. */
const CHECKS: Record<string, Omit<CountLine, 'key' | 'count'>> = {
  clear: { label: 'Clear', note: 'Nothing like it was asked before.' },
  loop: { label: 'Loop', note: 'The same was asked again, in these words or others.', tone: 'warning' },
  vetoed: { label: 'Vetoed', note: 'Alike, but a number, a name or a “not” differs.' },
  unfit: { label: 'Not comparable', note: 'Too few words, or words the model does not know.' },
  left: { label: 'Client left', note: 'Nobody waited for the answer any more.' },
  failed_open: { label: 'Failed open', note: 'Not checked; the call went on.', tone: 'danger' },
};

const REASONS: Record<string, Omit<CountLine, 'key' | 'count'>> = {
  unavailable: {
    label: 'Not there',
    note: 'The sidecar was down or starting, or its Redis or embeddings API did not answer.',
  },
  timeout: { label: 'Too slow', note: 'No answer within the timeout.' },
  busy: { label: 'Queue full', note: 'More prompts than it can embed.' },
  invalid: { label: 'Not understood', note: 'It refused the prompt.' },
  error: { label: 'Sidecar error', note: 'It answered with a failure.' },
  modification: { label: 'Hint did not fit', note: 'A loop, but the request could not carry a hint.' },
  storage: { label: 'Not kept', note: 'A loop that could not be written to the store.' },
  pause: { label: 'Not paused', note: 'A session that should have been paused.' },
};

const SITES: Record<string, Omit<CountLine, 'key' | 'count'>> = {
  semantic_loop: { label: 'Semantic loop' },
  cache: { label: 'Cache', note: 'Treated as a miss.' },
  kill_switch: { label: 'Kill switch', note: 'Calls were not scored.' },
  policy: { label: 'Policy' },
  session_steps: { label: 'Session steps', note: 'Calls that are missing in their session.' },
  record: { label: 'Record', note: 'Calls that are missing in the list.' },
};

type LimiterReasons = Readonly<Partial<Record<LimiterFailure, number>>>;

const LIMITER_REASONS: Record<LimiterFailure, string> = {
  timeout: 'Redis did not answer in time',
  disconnected: 'Redis was not connected',
  busy: 'too many answers of Redis were awaited',
  reply: 'Redis answered with an error',
  error: 'it failed as the log says',
};

/** What was wrong, most often first; with counts where there is more than one. */
function limiterSite(reasons: LimiterReasons): Omit<CountLine, 'key' | 'count'> {
  const [label, outcome] = ['Rate limiter', 'Rates and budgets were not enforced'];
  const told = Object.entries(reasons).sort(([, a], [, b]) => b - a);
  const whyOf = ([reason, count]: [string, number]): string =>
    `${LIMITER_REASONS[reason as LimiterFailure] ?? reason}${told.length > 1 ? ` (${formatCount(count)})` : ''}`;
  return { label, note: told.length === 0 ? `${outcome}.` : `${outcome}: ${told.map(whyOf).join(', ')}.` };
}

function linesOf(
  counts: Readonly<Record<string, number>>,
  texts: Record<string, Omit<CountLine, 'key' | 'count'>>,
  fallbackTone: CountLine['tone'],
): CountLine[] {
  const known = Object.keys(texts);
  const rank = (key: string): number => (known.includes(key) ? known.indexOf(key) : known.length);
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map(([key, count]) => ({
      tone: fallbackTone,
      label: key.replaceAll('_', ' '),
      ...texts[key],
      key,
      count,
    }));
}

export const checkLines = (checks: Readonly<Record<string, number>>): CountLine[] =>
  linesOf(checks, CHECKS, 'calm');
export const reasonLines = (reasons: Readonly<Record<string, number>>): CountLine[] =>
  linesOf(reasons, REASONS, 'warning').sort((a, b) => b.count - a.count);
/** @param limiterReasons of the limiter's among them */
export const siteLines = (
  sites: Readonly<Record<string, number>>,
  limiterReasons: LimiterReasons = {},
): CountLine[] =>
  linesOf(sites, { ...SITES, rate_limiter: limiterSite(limiterReasons) }, 'warning').sort(
    (a, b) => b.count - a.count,
  );

export const sumOf = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/** "3 min", "5 h", "12 d": how long the gateway has run. */
export function uptimeText(uptimeS: number): string {
  if (uptimeS < 60) return `${Math.floor(uptimeS)} s`;
  if (uptimeS < 3_600) return `${Math.floor(uptimeS / 60)} min`;
  return uptimeS < 48 * 3_600 ? `${Math.floor(uptimeS / 3_600)} h` : `${Math.floor(uptimeS / 86_400)} d`;
}
