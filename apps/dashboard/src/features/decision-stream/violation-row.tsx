/** One refused message. Its payload is never kept: the hash is all there is to tell two of them apart. */
import type { ViolationEvent } from '#contracts';
import { Identifier, RelativeTime } from '../../ui';

export function ViolationRow({ event }: { event: ViolationEvent }) {
  return (
    <div
      data-testid="violation-row"
      data-agent-id={event.agent_id}
      className="flex min-w-0 flex-col gap-0.5 px-3 py-2"
    >
      <div className="flex min-w-0 items-baseline gap-2">
        <span className="truncate font-medium" title={event.agent_id}>
          {event.agent_id}
        </span>
        <span className="shrink-0 font-mono text-2xs text-muted">
          v{event.capability_version.replace(/^v/, '')}
        </span>
        <RelativeTime
          atMs={Date.parse(event.timestamp)}
          className="nums ml-auto shrink-0 text-2xs text-muted"
        />
      </div>
      <p className="text-warning text-xs [overflow-wrap:anywhere]">{event.violation_reason}</p>
      <Identifier
        id={event.raw_payload_hash}
        charsMax={26}
        kind="payload hash"
        className="text-2xs text-faint"
      />
    </div>
  );
}
