/** One call: a row of the table on a desktop, a card on a phone. Memoised: a call that has ended does not change. */
import { memo } from 'react';
import type { LlmCall } from '#contracts';
import { rowFocus } from '../../app/keyboard/use-row-focus';
import {
  CutMiddle,
  cx,
  formatClock,
  formatCost,
  formatDuration,
  formatExact,
  formatTokens,
  RelativeTime,
  useNow,
} from '../../ui';
import { DecisionBadge } from './decision-badge';
import { costText, UNKNOWN_COST, UNKNOWN_USAGE } from './decision-texts';
import { endedAtMs } from './use-calls';

/** A column that is left out where every row has the same. */
export type CallColumn = 'agent' | 'session' | 'first_byte';

interface CallRowProps {
  call: LlmCall;
  rowIndex: number;
  heightPx: number;
  isOpen: boolean;
  onOpen: (call: LlmCall) => void;
  hides: readonly CallColumn[];
}

const cell = 'truncate border-line border-b px-3';
/** Beside the details, which name it, a narrow window has room for who called alone. */
export const modelPlace = (hides: readonly CallColumn[]): string =>
  hides.includes('agent') ? '' : '@max-md:hidden';

export const CallRow = memo(function CallRow(props: CallRowProps) {
  const { call, rowIndex, heightPx, isOpen, onOpen, hides } = props;
  const ended = useNow((nowMs) => formatClock(endedAtMs(call), nowMs));
  return (
    <tr
      aria-rowindex={rowIndex}
      data-testid="call-row"
      data-call-id={call.call_id}
      style={{ height: heightPx }}
      className={cx('relative', isOpen ? 'bg-selected' : 'hover:bg-hover')}
    >
      <td className={cx(cell, 'nums')}>
        {/* Its face covers the row: all of it can be clicked. */}
        <button
          type="button"
          {...rowFocus}
          aria-pressed={isOpen}
          aria-label={`Open the call of ${call.agent_id} at ${ended}`}
          title={formatExact(endedAtMs(call))}
          onClick={() => onOpen(call)}
          className="focus-inset font-mono text-2xs text-muted after:absolute after:inset-0"
        >
          {ended.split('.')[0]}
        </button>
      </td>
      <td className={cell}>
        <DecisionBadge call={call} />
      </td>
      {hides.includes('agent') ? null : (
        <td className={cx(cell, 'font-medium text-base')} title={call.agent_id}>
          <CutMiddle text={call.agent_id} />
        </td>
      )}
      <td className={cx(cell, 'text-muted', modelPlace(hides))} title={call.model ?? call.path}>
        {call.model ?? <span className="font-mono text-2xs">{call.path}</span>}
        {call.is_retry ? <span className="ml-1.5 text-faint">retry</span> : null}
      </td>
      {hides.includes('session') ? null : (
        <td className={cx(cell, 'font-mono text-2xs text-muted max-xl:hidden')} title={call.session_id}>
          <CutMiddle text={call.session_id} charsMax={20} />
        </td>
      )}
      <td className={cx(cell, 'nums text-right @max-xl:hidden')}>
        <TokenPair call={call} />
      </td>
      <td className={cx(cell, 'nums text-right')}>
        <CallCost call={call} />
      </td>
      {hides.includes('first_byte') ? null : (
        <td className={cx(cell, 'nums text-right text-muted max-lg:hidden')}>
          {call.first_byte_ms === null ? '–' : formatDuration(call.first_byte_ms)}
        </td>
      )}
      <td className={cx(cell, 'nums text-right @max-md:hidden')}>{formatDuration(call.duration_ms)}</td>
    </tr>
  );
});

export const CallCard = memo(function CallCard({
  call,
  isOpen,
  onOpen,
  hides,
}: Pick<CallRowProps, 'call' | 'isOpen' | 'onOpen' | 'hides'>) {
  const model = call.model ?? call.path;
  const [title, note] = hides.includes('agent') ? [model, call.session_id] : [call.agent_id, model];
  return (
    <button
      type="button"
      data-testid="call-row"
      data-call-id={call.call_id}
      aria-pressed={isOpen}
      onClick={() => onOpen(call)}
      className={cx(
        'focus-inset flex h-full w-full flex-col justify-center gap-1 border-line border-b px-3 text-left',
        isOpen && 'bg-selected',
      )}
    >
      <span className="flex w-full items-center gap-2">
        <DecisionBadge call={call} />
        <span className="min-w-0 font-medium">
          <CutMiddle text={title} />
        </span>
        <span className="ml-auto shrink-0 text-muted text-xs">
          <RelativeTime atMs={endedAtMs(call)} short />
        </span>
      </span>
      <span className="flex w-full items-center gap-3 text-muted text-xs">
        <span className="min-w-0 flex-1 truncate">{note}</span>
        <span className="nums shrink-0">
          <TokenPair call={call} />
        </span>
        <span className="nums shrink-0">
          <CallCost call={call} />
        </span>
        <span className="nums shrink-0 text-fg">{formatDuration(call.duration_ms)}</span>
      </span>
    </button>
  );
});

function TokenPair({ call: { usage } }: { call: LlmCall }) {
  if (!usage) return <span className="text-faint">–</span>;
  return (
    <>
      {formatTokens(usage.input_tokens)} <span className="text-faint">→</span>{' '}
      {formatTokens(usage.output_tokens)}
    </>
  );
}

/** Unknown is said, and never looks like nothing. */
export function CallCost({ call }: { call: LlmCall }) {
  const text = costText(call);
  if (text !== formatCost(null)) return <>{text}</>;
  return (
    <span title={call.usage ? UNKNOWN_COST : UNKNOWN_USAGE} className="text-warning">
      {text}
    </span>
  );
}
