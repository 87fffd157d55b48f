/** Commands for every session that is listed: whoever has forty in a loop has no time for forty rows. */
import { ListChecks } from 'lucide-react';
import { type RefObject, useEffect, useRef, useState } from 'react';
import type { HitlCommand, SessionView } from '#contracts';
import { sendCommand, useDenial } from '../../api';
import { Button, ConfirmDialog, formatCount, plural, withUnseen } from '../../ui';
import { Menu } from '../../ui/menu';
import { type ToastContent, toast } from '../../ui/toast';
import {
  BULK_COMMANDS,
  type BulkCommand,
  concernedBy,
  countByAgent,
  sendToEach,
  type Unsent,
} from '../hitl-console/bulk-command';
import { TERMINATED_WITHOUT_REASON } from '../hitl-console/control-texts';
import { ReasonField } from '../hitl-console/reason-field';

const AGENTS_NAMED_MAX = 5;
const PAUSED_TOGETHER = 'Paused together with others';

const TEXTS: Record<BulkCommand, { verb: string; done: string; none: string; note: string }> = {
  pause: {
    verb: 'Pause',
    done: 'asked to pause',
    none: 'Of those that are listed none is running.',
    note: 'Their messages and calls are held until somebody resumes them. Sessions that begin later are not paused.',
  },
  resume: {
    verb: 'Resume',
    done: 'resumed',
    none: 'Of those that are listed none is paused.',
    note: 'Whatever they were paused for, by whomever. What was held goes out.',
  },
  terminate: {
    verb: 'Terminate',
    done: 'terminated',
    none: 'Of those that are listed all are over.',
    note: 'Their calls are refused, and their agents are told to stop. This cannot be undone.',
  },
};

interface BulkMenuProps {
  /** As they are now. */
  listed: () => readonly SessionView[];
}

/** Whom it is meant for is settled when it is asked: what joins the list while somebody reads is none of it. */
interface Asked {
  command: BulkCommand;
  meant: readonly SessionView[];
}

export function BulkMenu({ listed }: BulkMenuProps) {
  const denial = useDenial('command');
  const [asked, setAsked] = useState<Asked | null>(null);
  const button = (
    <Button
      icon={<ListChecks size={14} aria-hidden="true" />}
      aria-label="Pause, resume or terminate all that are listed"
      disabledReason={denial}
    >
      All
    </Button>
  );
  if (denial !== null) return button;
  return (
    <>
      <Menu
        trigger={button}
        items={BULK_COMMANDS.map((command) => ({
          label: `${TEXTS[command].verb} all…`,
          onSelect: () => setAsked({ command, meant: concernedBy(command, listed()) }),
        }))}
      />
      {asked === null ? null : <BulkDialog {...asked} onClose={() => setAsked(null)} />}
    </>
  );
}

function BulkDialog({ command, meant, onClose }: Asked & { onClose: () => void }) {
  const { verb, done, none, note } = TEXTS[command];
  const [left, setLeft] = useState(meant);
  const [reason, setReason] = useState('');
  const [sentCount, setSentCount] = useState<number | null>(null);
  const defaultReason = command === 'terminate' ? TERMINATED_WITHOUT_REASON : PAUSED_TOGETHER;
  const overCount = useRef(0);
  const isShown = useIsShown();
  const stop = useRef(new AbortController());
  const sendAll = async () => {
    const order = orderOf(command, reason.trim() || defaultReason);
    stop.current = new AbortController();
    const send = (id: string) => sendCommand(id, order);
    const outcome = await sendToEach(left, send, stop.current.signal, setSentCount);
    setSentCount(null);
    overCount.current += outcome.overCount;
    const [first] = outcome.unsent;
    if (first === undefined) {
      toast(doneText(done, meant.length, overCount.current));
      return;
    }
    setLeft(outcome.unsent.map(({ session }) => session));
    const title = `Not ${done}: ${formatCount(outcome.unsent.length)} of ${formatCount(left.length)}`;
    const isLoginOver = outcome.unsent.some((one) => one.isLoginOver);
    const why = isLoginOver ? 'Your login had ended.' : whyOf(first);
    // Nobody would read it here.
    if (isLoginOver || !isShown.current)
      toast({ title, description: why, tone: 'danger', staysUntilDismissed: true });
    throw new Error(`${title}. ${why}`);
  };
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={left.length === 0 ? `${verb} all?` : `${verb} ${plural(left.length, 'session')}?`}
      description={left.length === 0 ? none : <Meant command={command} sessions={left} note={note} />}
      confirmLabel={left.length === 0 ? verb : `${verb} ${plural(left.length, 'session')}`}
      confirmVariant={command === 'terminate' ? 'danger' : 'primary'}
      typeToConfirm={command === 'terminate' ? 'terminate' : undefined}
      isReady={left.length > 0}
      onConfirm={sendAll}
    >
      {command === 'resume' ? null : (
        <ReasonField whose="the agents" value={reason} otherwise={defaultReason} onChange={setReason} />
      )}
      {sentCount === null ? null : (
        <SentSoFar count={sentCount} of={left.length} onStop={() => stop.current.abort()} />
      )}
    </ConfirmDialog>
  );
}

/** Not a live region: of thousands, each would be read out. */
function SentSoFar({ count, of, onStop }: { count: number; of: number; onStop: () => void }) {
  const text = `${formatCount(count)} of ${formatCount(of)}`;
  return (
    <p className="nums relative flex items-center gap-2 text-muted text-xs">
      {text}
      <progress aria-label="Sent" aria-valuetext={text} value={count} max={of} className="sr-only" />
      <Button size="sm" onClick={onStop}>
        Stop
      </Button>
    </p>
  );
}

/** False once the page was left. */
function useIsShown(): RefObject<boolean> {
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return isShown;
}

/** The reason is the session's own, unless nothing was sent to it. */
const whyOf = ({ session, message, wasSent }: Unsent): string =>
  wasSent ? `${session.session_id}: ${message}` : message;

const doneText = (done: string, meantCount: number, overCount: number): ToastContent => ({
  title: `${plural(meantCount - overCount, 'session')} ${done}`,
  ...(overCount === 0
    ? {}
    : {
        description: `${plural(overCount, 'session')} ${overCount === 1 ? 'was' : 'were'} terminated or deleted meanwhile.`,
      }),
});

const orderOf = (command: BulkCommand, reason: string): HitlCommand =>
  command === 'resume' ? { command } : { command, reason };

interface MeantProps {
  command: BulkCommand;
  sessions: readonly SessionView[];
  note: string;
}

/** Of which agents, and which of them do not listen: a number alone says nothing of whether the right ones are meant. */
function Meant({ command, sessions, note }: MeantProps) {
  const agents = countByAgent(sessions);
  const named = agents
    .slice(0, AGENTS_NAMED_MAX)
    .map(([agentId, count]) =>
      count === 1 ? withUnseen(agentId) : `${withUnseen(agentId)} (${formatCount(count)})`,
    );
  const unnamedCount = agents.length - named.length;
  const deafCount = sessions.filter(({ control }) => control.mode === 'observe_only').length;
  return (
    <>
      <span className="break-all text-fg">
        {named.join(', ')}
        {unnamedCount > 0 ? ` and ${plural(unnamedCount, 'other agent')}` : ''}
      </span>
      <br />
      {note}
      {command === 'resume' || deafCount === 0
        ? null
        : ` ${formatCount(deafCount)} of them never asked for control, and may keep running.`}
    </>
  );
}
