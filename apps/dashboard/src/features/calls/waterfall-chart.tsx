/** The steps of the pipeline under each other, over the time of the call. A table to assistive technology. */
import type { LlmCall } from '#contracts';
import { cx } from '../../ui';
import { isFailedOpen, isPlainOutcome, outcomeText, stepName } from './step-texts';
import { formatStepMs, layWaterfall, type WaterfallBar } from './waterfall';

/** A step that only let the call through is told apart from one that did something, and from one that was skipped. */
function fillOf({ name, outcome }: WaterfallBar): string {
  if (isPlainOutcome(outcome)) return 'bg-accent-solid/75';
  return isFailedOpen(name, outcome) ? 'bg-[#f59e0b]' : 'bg-paused-solid';
}

export function WaterfallChart({ call }: { call: LlmCall }) {
  const { bars, totalMs, firstBytePercent } = layWaterfall(call);
  if (bars.length === 0) return <p className="text-muted text-xs">No steps were recorded.</p>;
  return (
    <div>
      <table className="w-full table-fixed border-collapse text-xs">
        <caption className="sr-only">Steps of the call, over {formatStepMs(totalMs)}</caption>
        <colgroup>
          <col className="w-[6.5rem]" />
          <col />
          <col className="w-16" />
        </colgroup>
        <thead className="sr-only">
          <tr>
            <th scope="col">Step</th>
            <th scope="col">When</th>
            <th scope="col">Took</th>
          </tr>
        </thead>
        <tbody>
          {bars.map((bar, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: an immutable list; a step's name may occur twice.
            <tr key={index} className="h-6">
              <th scope="row" className="truncate pr-2 text-left font-normal" title={bar.name}>
                {stepName(bar.name)}
              </th>
              <td className="relative p-0">
                <span className="sr-only">after {formatStepMs(bar.startMs)}</span>
                <span aria-hidden="true" className="absolute inset-y-[5px] inset-x-0 rounded-sm bg-sunken" />
                <span
                  aria-hidden="true"
                  className={cx('absolute inset-y-[5px] rounded-sm', fillOf(bar))}
                  style={{ left: `${bar.leftPercent}%`, width: `${bar.widthPercent}%` }}
                />
                {firstBytePercent === null ? null : (
                  <span
                    aria-hidden="true"
                    className="absolute inset-y-0 w-px bg-fg/40"
                    style={{ left: `${firstBytePercent}%` }}
                  />
                )}
              </td>
              <td className="nums pl-2 text-right text-muted whitespace-nowrap">
                {formatStepMs(bar.durationMs)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <ul className="mt-1 flex flex-col gap-0.5">
        {bars
          .filter(({ outcome }) => !isPlainOutcome(outcome))
          .map(({ name, outcome }) => (
            <li key={`${name} ${outcome}`} className="text-muted text-xs [overflow-wrap:anywhere]">
              <span className="font-medium text-fg">{stepName(name)}</span>: {outcomeText(name, outcome)}
            </li>
          ))}
      </ul>
      {call.first_byte_ms === null ? null : (
        <p className="nums mt-1 text-faint text-xs">
          The thin line is the first byte of the answer, after {formatStepMs(call.first_byte_ms)}.
        </p>
      )}
    </div>
  );
}
