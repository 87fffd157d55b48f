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
  /** Its first line is a head, and may be the only one in sight: the arrow stands in it, and else in the middle. */
  hasHead?: boolean;
}

export function ScrollSideways({
  ground = 'surface',
  hasHead = false,
  className,
  children,
  ...rest
}: ScrollSidewaysProps) {
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
      {hides.start ? <Fade side="start" ground={ground} hasHead={hasHead} /> : null}
      {hides.end ? <Fade side="end" ground={ground} hasHead={hasHead} /> : null}
    </div>
  );
}

type FadeProps = { side: 'start' | 'end' } & Required<Pick<ScrollSidewaysProps, 'ground' | 'hasHead'>>;

function Fade({ side, ground, hasHead }: FadeProps) {
  const Arrow = side === 'start' ? ChevronLeft : ChevronRight;
  return (
    <span
      aria-hidden="true"
      data-testid="hides-more"
      data-side={side}
      className={cx(
        'pointer-events-none absolute inset-y-0 flex w-10 from-30% to-transparent text-muted',
        GROUNDS[ground],
        hasHead ? 'pt-2' : 'items-center',
        side === 'start' ? 'left-0 bg-linear-to-r' : 'right-0 justify-end bg-linear-to-l',
      )}
    >
      <Arrow size={15} />
    </span>
  );
}
