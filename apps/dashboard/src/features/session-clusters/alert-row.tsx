/** One looping session: what it repeats, since when, who has it in hand, and the button. @see FR-9.10 */
import { memo, useEffect } from 'react';
import type { AlertGroup } from '#contracts';
import { Badge, formatEntropy, plural } from '../../ui';
import { REPEAT_TEXTS, type Repeat } from '../semantic-loops/loop-texts';
import { type AlertedSession, AlertRowFrame } from './alert-row-frame';
import { repeatedText } from './repeated-text';
import { describeTuple } from './window-dots';

interface AlertRowProps extends AlertedSession {
  group: AlertGroup;
  /** How its prompts say the same, too; null: they do not. */
  repeat: Repeat | null;
}

/** "Entropy loop: score 0.20, search · grep · failure": goes into the audit. */
const pauseReason = ({ latest }: AlertGroup): string =>
  `Entropy loop: score ${formatEntropy(latest.entropy_score)}, ${describeTuple(latest.repeated_pattern)}`;

export const AlertRow = memo(function AlertRow({ group, repeat, ...shown }: AlertRowProps) {
  usePaintedMark(group.session_id);
  return (
    <AlertRowFrame
      data-testid="alert-row"
      alert={group}
      {...shown}
      figure={{
        name: 'Score',
        value: formatEntropy(group.latest.entropy_score),
        title: 'Entropy: distinct steps over steps in the window',
      }}
      countText={plural(group.alert_count, 'alert')}
      pauseReason={pauseReason(group)}
    >
      <Pattern group={group} session={shown.session} repeat={repeat} />
    </AlertRowFrame>
  );
});

function Pattern({ group, session, repeat }: Pick<AlertRowProps, 'group' | 'session' | 'repeat'>) {
  const { tool_call, action_status } = group.latest.repeated_pattern;
  return (
    <div className="flex min-w-0 items-center gap-2" title={describeTuple(group.latest.repeated_pattern)}>
      <span className="nums shrink-0 font-semibold">×{group.latest.occurrence_count}</span>
      <span className="truncate">{repeatedText(group, session)}</span>
      {tool_call ? (
        <span className="truncate font-mono text-muted text-xs md:max-xl:hidden">{tool_call}</span>
      ) : null}
      <Badge tone={action_status === 'failure' ? 'danger' : 'neutral'}>{action_status}</Badge>
      {repeat === null ? null : (
        <Badge tone="warning" title={`${REPEAT_TEXTS[repeat].asks}, too`}>
          {REPEAT_TEXTS[repeat].badge}
        </Badge>
      )}
    </div>
  );
}

/** Marks the moment after the frame in which the row first was painted; read by the benchmark. */
function usePaintedMark(sessionId: string): void {
  useEffect(() => {
    const name = `alert-painted:${sessionId}`;
    if (performance.getEntriesByName(name).length > 0) return;
    const frame = requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => performance.mark(name);
      channel.port2.postMessage(null);
    });
    return () => cancelAnimationFrame(frame);
  }, [sessionId]);
}
