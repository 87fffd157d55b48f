/** For a thing that holds still while somebody points at it. */
import { type PointerEvent, useEffect, useRef, useState } from 'react';
import { Pointing } from './pointing';

interface PointerHandlers {
  onPointerEnter: (event: PointerEvent) => void;
  onPointerMove: (event: PointerEvent) => void;
  onPointerDown: () => void;
  onWheel: () => void;
  onPointerLeave: (event: PointerEvent) => void;
}

/**
 * @param changed told when somebody begins to point, and when no one does any more: they left or rest, or the element is gone
 * @returns for the element that is pointed at
 */
export function usePointing(changed: (isPointing: boolean) => void): PointerHandlers {
  const latest = useRef(changed);
  latest.current = changed;
  const [pointing] = useState(() => new Pointing((isPointing) => latest.current(isPointing)));
  useEffect(() => pointing.ended, [pointing]);
  const { moved, touched, left } = pointing;
  return {
    onPointerEnter: moved,
    onPointerMove: moved,
    onPointerDown: touched,
    onWheel: touched,
    onPointerLeave: left,
  };
}
