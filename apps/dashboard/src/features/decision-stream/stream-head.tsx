/** What stands in the stream's columns, and on whose clock; a phone, which has no columns, is told of the clock alone. */
import { cx, formatZone, useNow } from '../../ui';
import { STREAM_COLUMNS } from './stream-row';

export function StreamHead() {
  const zone = useNow(formatZone);
  return (
    // Begins where times do, beside the arrow that opens a row.
    <p className="flex items-center gap-3 border-line border-b bg-surface px-3.5 py-1 font-medium text-2xs text-muted md:sticky md:top-0 md:z-10 md:py-2 md:pr-3 md:pl-[39px]">
      <span className={STREAM_COLUMNS.received}>Received, {zone}</span>
      <span className={cx(STREAM_COLUMNS.agent, 'max-md:hidden')}>Agent</span>
      <span className={cx(STREAM_COLUMNS.status, 'max-md:hidden')}>Status</span>
      <span className={cx(STREAM_COLUMNS.tool, 'max-md:hidden')}>Tool</span>
      <span className={cx(STREAM_COLUMNS.intent, 'max-md:hidden')}>Intent</span>
      <span className={cx(STREAM_COLUMNS.took, 'max-md:hidden')}>Took</span>
    </p>
  );
}
