/** The tool calls of one request, each with what it came back with; marked are those that the stopped turn repeats. */
import type { IncidentEvidence } from '#contracts';
import { cx } from '../../ui';
import { type EvidenceView, isRepeatedCall } from './score';

export function EvidenceToolCalls({ evidence, view }: { evidence: IncidentEvidence; view: EvidenceView }) {
  return (
    <ul className="flex flex-col gap-1.5">
      {evidence.tool_calls.map((call, index) => {
        const isRepeated = isRepeatedCall(call, evidence, view);
        return (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: an immutable list; the same call may occur twice.
            key={index}
            data-testid="tool-call"
            data-repeated={isRepeated}
            className={cx(
              'rounded-md border px-2 py-1 text-xs',
              isRepeated ? 'border-warning-line bg-warning-soft' : 'border-line bg-sunken',
            )}
          >
            <p className="font-mono [overflow-wrap:anywhere]">
              <span className={cx('font-semibold', isRepeated && 'text-warning')}>{call.name}</span>
              <span className={isRepeated ? 'text-fg' : 'text-muted'}>({call.arguments})</span>
            </p>
            {call.result ? (
              <p className="mt-0.5 line-clamp-4 text-muted [overflow-wrap:anywhere]">→ {call.result}</p>
            ) : null}
          </li>
        );
      })}
    </ul>
  );
}
