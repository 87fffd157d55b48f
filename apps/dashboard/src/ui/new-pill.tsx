/** "12 new": what waits above a list that holds still while somebody reads it. Draws nothing when nothing waits. */
import { ArrowUp } from 'lucide-react';
import { cx } from './cx';
import { formatCount } from './format';

interface NewPillProps {
  count: number;
  onRelease: () => void;
}

/** Its parent is positioned; the pill floats over the first rows and moves nothing. */
export function NewPill({ count, onRelease }: NewPillProps) {
  if (count === 0) return null;
  return <FloatingPill text={`${formatCount(count)} new`} className="absolute top-2" onClick={onRelease} />;
}

interface FloatingPillProps {
  text: string;
  onClick: () => void;
  /** Where it floats. */
  className: string;
}

export function FloatingPill({ text, onClick, className }: FloatingPillProps) {
  return (
    <div className={cx('pointer-events-none inset-x-0 z-20 flex justify-center', className)}>
      <button
        type="button"
        onClick={onClick}
        className="nums pointer-events-auto inline-flex h-7 items-center gap-1.5 rounded-full bg-accent-solid px-3 font-medium text-white text-xs shadow-pop hover:bg-accent-solid-hover max-md:h-9"
      >
        <ArrowUp size={13} aria-hidden="true" />
        {text}
      </button>
    </div>
  );
}
