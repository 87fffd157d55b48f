/** One refused message. Its payload is never kept: the hash is all there is to tell two of them apart. */
import type { ViolationEvent } from '#contracts';
import { CutMiddle, cx, Identifier, nodeColour, RelativeTime } from '../../ui';

interface ViolationRowProps {
  event: ViolationEvent;
  /** One line where there is room for it; otherwise always three. */
  wide?: boolean;
}

export function ViolationRow({ event, wide = false }: ViolationRowProps) {
  return (
    <div
      data-agent-id={event.agent_id}
      className={cx(
        'relative flex min-w-0 flex-col gap-0.5 py-2 pr-3 pl-6 text-xs',
        wide && 'md:flex-row md:items-center md:gap-4 md:py-1.5',
      )}
    >
      <span
        aria-hidden="true"
        className={cx(
          'absolute top-3.5 left-3 size-1.5 rounded-full',
          wide && 'md:top-1/2 md:-translate-y-1/2',
        )}
        style={{ backgroundColor: nodeColour('schema_violation') }}
      />
      <div className={cx('flex min-w-0 items-baseline gap-2', wide && 'md:w-52 md:shrink-0')}>
        <span className="min-w-0 font-medium text-base" title={event.agent_id}>
          <CutMiddle text={event.agent_id} />
        </span>
        <span className="shrink-0 font-mono text-2xs text-muted">
          {versionText(event.capability_version)}
        </span>
        <RelativeTime
          atMs={Date.parse(event.timestamp)}
          className={cx('nums ml-auto shrink-0 text-2xs text-muted', wide && 'md:hidden')}
        />
      </div>
      <p className={cx('[overflow-wrap:anywhere]', wide && 'md:min-w-0 md:flex-1')}>
        {event.violation_reason}
      </p>
      <Identifier
        id={event.raw_payload_hash}
        charsMax={26}
        kind="payload hash"
        className={cx('text-2xs text-faint', wide && 'md:shrink-0')}
      />
      {wide ? (
        <RelativeTime
          atMs={Date.parse(event.timestamp)}
          className="nums w-20 shrink-0 text-right text-2xs text-muted max-md:hidden"
        />
      ) : null}
    </div>
  );
}

/** The gateway writes `unknown` where the message names none. */
const versionText = (version: string): string =>
  version === 'unknown' ? 'no version' : `v${version.replace(/^v/, '')}`;
