/** What may be wider than its place scrolls sideways in it; a fade with an arrow lies on each side that hides something. */
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { type ComponentProps, useCallback, useLayoutEffect, useRef, useState } from 'react';
import { cx } from './cx';

const GROUNDS = { surface: 'from-surface', canvas: 'from-canvas', sunken: 'from-sunken' };
type Ground = keyof typeof GROUNDS;

const NOTHING = { start: false, end: false };

interface ScrollSidewaysProps extends ComponentProps<'div'> {
  /** What it lies on, into which it fades. */
  ground?: Ground;
}

export function ScrollSideways({ ground = 'surface', className, children, ...rest }: ScrollSidewaysProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [hides, setHides] = useState(NOTHING);
  const measure = useCallback(() => {
    const { scrollLeft, scrollWidth, clientWidth } = scroller.current as HTMLDivElement;
    // Less than a pixel is rounding.
    const now = { start: scrollLeft >= 1, end: scrollWidth - clientWidth - scrollLeft >= 1 };
    setHides((before) => (before.start === now.start && before.end === now.end ? before : now));
  }, []);
  useLayoutEffect(() => {
    const { current } = scroller;
    if (current === null) return;
    const observer = new ResizeObserver(measure);
    for (const element of [current, ...current.children]) observer.observe(element);
    return () => observer.disconnect();
  }, [measure]);
  return (
    <div className="relative">
      <div {...rest} ref={scroller} onScroll={measure} className={cx('relative overflow-x-auto', className)}>
        {children}
      </div>
      {hides.start ? <Fade side="start" ground={ground} /> : null}
      {hides.end ? <Fade side="end" ground={ground} /> : null}
    </div>
  );
}

function Fade({ side, ground }: { side: 'start' | 'end'; ground: Ground }) {
  const Arrow = side === 'start' ? ChevronLeft : ChevronRight;
  return (
    <span
      aria-hidden="true"
      data-testid="hides-more"
      data-side={side}
      className={cx(
        'pointer-events-none absolute inset-y-0 flex w-10 from-30% to-transparent pt-2 text-muted',
        GROUNDS[ground],
        side === 'start' ? 'left-0 bg-linear-to-r' : 'right-0 justify-end bg-linear-to-l',
      )}
    >
      <Arrow size={15} />
    </span>
  );
}
