/** Whoever touches a screen has no tooltip: a tap on a time shows its exact one, until the next tap or until the page scrolls. */
import { Tooltip as Base } from '@base-ui/react/tooltip';
import { useEffect, useState } from 'react';
import { tooltipPopupClass } from './tooltip';

interface Tapped {
  text: string;
  /** Where it was: a list that lives may have moved it since. */
  rect: DOMRect;
}

/** Mounted once. */
export function TappedTime() {
  const [tapped, setTapped] = useState<Tapped | null>(null);
  useEffect(() => {
    // No click comes of a tap on what cannot be pressed, in Safari.
    const look = ({ target, pointerType }: PointerEvent) => {
      const time = pointerType === 'mouse' ? null : (target as Element).closest<HTMLElement>('time[title]');
      setTapped(time && { text: time.title, rect: time.getBoundingClientRect() });
    };
    const hide = () => setTapped(null);
    document.addEventListener('pointerup', look);
    document.addEventListener('scroll', hide, true);
    return () => {
      document.removeEventListener('pointerup', look);
      document.removeEventListener('scroll', hide, true);
    };
  }, []);
  if (tapped === null) return null;
  return (
    <Base.Root open>
      <Base.Portal>
        <Base.Positioner
          anchor={{ getBoundingClientRect: () => tapped.rect }}
          sideOffset={6}
          className="pointer-events-none z-50"
        >
          <Base.Popup role="status" className={tooltipPopupClass}>
            {tapped.text}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
