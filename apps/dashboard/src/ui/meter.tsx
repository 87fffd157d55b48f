/**
 * How much of a limit is used, as a thin bar: accent, then warning near the limit, then danger at it. The numbers stand
 * beside it in words; the bar is a meter to assistive technology. Without a limit there is no track: an empty one would read as nothing used.
 */
import { cx } from './cx';

/** Share of the limit from which a bar warns. */
export const METER_WARNS_AT = 0.8;

export type MeterLevel = 'calm' | 'near' | 'over';

/** @param limit null = none: always calm */
export function meterLevel(value: number, limit: number | null): MeterLevel {
  if (limit === null || limit <= 0) return 'calm';
  const share = value / limit;
  if (share >= 1) return 'over';
  return share >= METER_WARNS_AT ? 'near' : 'calm';
}

const fills: Record<MeterLevel, string> = {
  calm: 'bg-accent-solid',
  near: 'bg-[#f59e0b]',
  over: 'bg-danger-solid',
};

interface MeterProps {
  /** Accessible name. */
  label: string;
  value: number;
  /** Null: no limit. */
  limit: number | null;
  /** In words, for assistive technology: "$3.20 of $5". */
  text: string;
  className?: string;
}

export function Meter({ label, value, limit, text, className }: MeterProps) {
  const place = cx('block h-1 overflow-hidden rounded-full', className);
  if (limit === null) return <span aria-hidden="true" className={place} />;
  const percent = limit <= 0 ? 100 : Math.min(100, (value / limit) * 100);
  return (
    // biome-ignore lint/a11y/useSemanticElements: the meter element cannot be styled alike in all browsers.
    <span
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={limit}
      aria-valuenow={Math.min(value, limit)}
      aria-valuetext={text}
      className={cx('says-by-colour bg-line', place)}
    >
      <span
        className={cx('block h-full rounded-full', fills[meterLevel(value, limit)])}
        style={{ width: `${percent}%`, minWidth: value > 0 ? 2 : 0 }}
      />
    </span>
  );
}
