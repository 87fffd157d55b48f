/** What the rows of the alerts panel have in common: which session, since when, who has it in hand, and the button. */
import { Link, useRouter } from '@tanstack/react-router';
import { Pause } from 'lucide-react';
import type { ReactNode } from 'react';
import { type AlertGroup, isStoppedState, type SessionView } from '#contracts';
import { GoButton } from '../../app/go-button';
import { Button, CutMiddle, cx, RelativeTime, SinceNote } from '../../ui';
import { StoppedAgentButton } from '../agents/stopped-agent-button';
import { MODE_TEXTS, stateText } from '../hitl-console/control-texts';
import { type Failure, failureStill } from '../hitl-console/failure';
import { usePauseAndInspect } from '../hitl-console/use-pause-and-inspect';
import { isStoppedForGood, type Rest } from './rest';
import { RestBadge } from './rest-badge';

/** What is known of a row's session besides its alert. */
export interface AlertedSession {
  /** Undefined when the alert arrived before its session's row. */
  session: SessionView | undefined;
  /** Null: it burns. */
  rest: Rest | null;
  /** Of its agent, while nobody has reactivated it; null for none. */
  incidentId: string | null;
}

interface AlertRowFrameProps extends AlertedSession {
  'data-testid': string;
  alert: Pick<AlertGroup, 'session_id' | 'agent_id' | 'first_at_ms'>;
  /** At the left, and what it is. */
  figure: { value: string; name: string; title: string };
  /** Below since when: "3 alerts". */
  countText: string;
  /** Goes into the audit. */
  pauseReason: string;
  /** What is repeated. */
  children: ReactNode;
}

export function AlertRowFrame(props: AlertRowFrameProps) {
  const { session, rest, figure } = props;
  const { session_id: sessionId, agent_id: agentId, first_at_ms } = props.alert;
  const pausing = usePauseAndInspect();
  const isPaused = session !== undefined && isStoppedState(session.control.state);
  const failure = failureStill(pausing.failure, session?.control);
  return (
    <li
      data-testid={props['data-testid']}
      data-session-id={sessionId}
      className="animate-arrive border-line border-b px-3 py-1.5 last:border-b-0 md:py-0.5"
    >
      <div className="flex min-h-10 items-center gap-3 md:min-h-12 max-md:flex-wrap max-md:gap-x-2 max-md:gap-y-1 md:max-xl:gap-2">
        <span
          title={figure.title}
          className={cx(
            'nums inline-flex h-7 w-12 shrink-0 items-center justify-center rounded-md font-semibold',
            rest === null ? 'bg-danger-soft text-danger' : 'bg-sunken text-muted',
          )}
        >
          <span className="sr-only">{figure.name} </span>
          {figure.value}
        </span>
        <div className="flex w-44 min-w-0 shrink-0 flex-col max-md:w-auto max-md:flex-1">
          <Link
            to="/sessions/$sessionId"
            params={{ sessionId }}
            title={sessionId}
            className="min-w-0 font-medium font-mono text-xs hover:underline"
          >
            <CutMiddle text={sessionId} charsMax={24} />
          </Link>
          <span title={agentId} className="text-muted text-xs">
            <CutMiddle text={agentId} />
          </span>
        </div>
        <div className="min-w-0 flex-1 max-md:order-1 max-md:basis-full">
          {props.children}
          <Note caution={rest === null ? cautionOf(session) : null} failure={failure} />
        </div>
        {/* In a narrow window in two lines: side by side they would leave no room for what is repeated, in three none below. */}
        <span className="flex shrink-0 items-center gap-3 max-md:contents md:max-xl:grid md:max-xl:grid-cols-[1fr_auto] md:max-xl:items-center md:max-xl:gap-x-0 md:max-xl:gap-y-0">
          <span className="nums text-right text-muted text-xs md:max-xl:contents">
            <span className="md:max-xl:col-span-2 md:max-xl:justify-self-end">
              began <RelativeTime atMs={first_at_ms} />
            </span>
            <br className="max-xl:hidden" />
            <span className="max-md:ml-2 md:max-xl:justify-self-end">{props.countText}</span>
          </span>
          {session && (rest !== null || isPaused) ? (
            // On a phone below what is repeated: beside the names it would cut them short.
            <span className="flex shrink-0 max-md:order-1 max-md:basis-full md:max-xl:ml-2">
              {/* A pause that its agent did not hear lets it burn on. */}
              <RestBadge rest={rest ?? 'held'} session={session} />
            </span>
          ) : null}
        </span>
        <PauseOrInspect {...props} isPaused={isPaused} pausing={pausing} />
      </div>
    </li>
  );
}

/** Second line of the row, so that a failure does not make it higher and move the rows below. */
function Note({ caution, failure }: { caution: string | null; failure: Failure | null }) {
  if (failure) {
    return (
      <p role="alert" title={failure.message} className="flex gap-x-1 text-danger text-xs">
        <span className="min-w-0 truncate max-md:whitespace-normal">Not paused: {failure.message}</span>
        <SinceNote atMs={failure.atMs} />
      </p>
    );
  }
  if (caution === null) return null;
  return (
    <p className="truncate text-muted text-xs max-md:whitespace-normal" title={caution}>
      {caution}
    </p>
  );
}

/** What a pause does to an agent that listens to nothing, before it and after. */
function cautionOf(session: SessionView | undefined): string | null {
  if (session?.control.mode !== 'observe_only') return null;
  return isStoppedState(session.control.state) ? stateText(session.control) : MODE_TEXTS.observe_only;
}

interface PauseOrInspectProps extends AlertRowFrameProps {
  isPaused: boolean;
  pausing: ReturnType<typeof usePauseAndInspect>;
}

const buttonClass = 'w-40 max-md:order-2 max-md:h-11 max-md:w-full';

/** The one thing to do: what is paused or over is left to look at, and a stopped agent's calls are refused already. */
function PauseOrInspect(props: PauseOrInspectProps) {
  const { session, rest, incidentId, isPaused, pausing, pauseReason } = props;
  const sessionId = props.alert.session_id;
  const router = useRouter();
  const target = { to: '/sessions/$sessionId', params: { sessionId } } as const;
  if (session && isStoppedForGood(rest))
    return <StoppedAgentButton className={buttonClass} agentId={session.agent_id} incidentId={incidentId} />;
  if (isPaused || session?.ended)
    return (
      <GoButton
        className={buttonClass}
        data-testid="pause-and-inspect"
        target={target}
        label="Inspect"
        of={sessionId}
      />
    );
  const preload = () => void router.preloadRoute(target);
  return (
    <Button
      data-testid="pause-and-inspect"
      variant={rest === null ? 'primary' : 'secondary'}
      className={buttonClass}
      icon={<Pause size={14} aria-hidden="true" />}
      busy={pausing.busy}
      disabledReason={pausing.denial}
      aria-label={`Pause and Inspect ${sessionId}`}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={() => void pausing.pause(sessionId, pauseReason)}
    >
      Pause and Inspect
    </Button>
  );
}
