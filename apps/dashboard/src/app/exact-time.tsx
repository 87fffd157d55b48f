/**
 * The exact time behind a relative one, for whoever has no pointer to rest on it: a tap shows it, and so does a key, which goes
 * on from time to time. Until the next tap, until the page scrolls, and until another key.
 */
import { Tooltip as Base } from '@base-ui/react/tooltip';
import { useEffect, useState } from 'react';
import { tooltipPopupClass } from '../ui/tooltip';
import { KEY_MAP } from './keyboard/key-map';
import { useShortcut } from './keyboard/use-shortcut';

const SELECTOR = 'time[title]';

interface Told {
  time: HTMLElement;
  text: string;
  /** Where it was: a list that lives may have moved it since. */
  rect: DOMRect;
}

const tell = (time: HTMLElement): Told => ({ time, text: time.title, rect: time.getBoundingClientRect() });

/** Mounted once. */
export function ExactTime() {
  const [told, setTold] = useState<Told | null>(null);
  useShortcut('exactTime', () => {
    const next = nextTime(told?.time);
    setTold(next ? tell(next) : null);
  });
  useEffect(() => {
    // No click comes of a tap on what cannot be pressed, in Safari.
    const look = ({ target, pointerType }: PointerEvent) => {
      const time = pointerType === 'mouse' ? null : (target as Element).closest<HTMLElement>(SELECTOR);
      setTold(time && tell(time));
    };
    const hide = () => setTold(null);
    document.addEventListener('pointerup', look);
    document.addEventListener('scroll', hide, true);
    return () => {
      document.removeEventListener('pointerup', look);
      document.removeEventListener('scroll', hide, true);
    };
  }, []);
  const isTold = told !== null;
  useEffect(() => {
    if (!isTold) return;
    const dismiss = (event: KeyboardEvent) => {
      if (event.key === KEY_MAP.exactTime.keys) return;
      // Ahead of the shortcuts, whose Escape leaves the page.
      if (event.key === 'Escape') event.preventDefault();
      setTold(null);
    };
    document.addEventListener('keydown', dismiss, true);
    return () => document.removeEventListener('keydown', dismiss, true);
  }, [isTold]);
  if (told === null) return null;
  return (
    <Base.Root open>
      <Base.Portal>
        <Base.Positioner
          anchor={{ getBoundingClientRect: () => told.rect }}
          sideOffset={6}
          className="pointer-events-none z-50"
        >
          <Base.Popup role="status" className={tooltipPopupClass}>
            {told.text}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

/** In sight: after the one that was told last; else the first of what has the focus, or of what is around it. */
function nextTime(last: HTMLElement | undefined): HTMLElement | undefined {
  const times = [...document.querySelectorAll<HTMLElement>(SELECTOR)].filter(isInSight);
  if (last && times.includes(last)) return times[times.indexOf(last) + 1];
  for (let around = document.activeElement; around; around = around.parentElement) {
    const first = times.find((time) => around?.contains(time));
    if (first) return first;
  }
  return undefined;
}

function isInSight(time: HTMLElement): boolean {
  const { left, top, width, height } = time.getBoundingClientRect();
  // Under a link that spans its row it is in sight, too.
  return document.elementsFromPoint(left + width / 2, top + height / 2).includes(time);
}
