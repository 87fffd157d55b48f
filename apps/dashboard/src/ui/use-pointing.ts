/** For a thing that holds still while somebody points at it. */
import { useEffect, useRef, useState } from 'react';
import { Pointing } from './pointing';

interface PointerHandlers {
  onPointerEnter: () => void;
  onPointerMove: () => void;
  onPointerDown: () => void;
  onWheel: () => void;
  onPointerLeave: () => void;
}

/**
 * @param changed told when somebody begins to point, and when no one does any more: they left or rest, or the element is gone
 * @returns for the element that is pointed at
 */
export function usePointing(changed: (isPointing: boolean) => void): PointerHandlers {
  const latest = useRef(changed);
  latest.current = changed;
  const [pointing] = useState(() => new Pointing((isPointing) => latest.current(isPointing)));
  useEffect(() => pointing.left, [pointing]);
  const { moved, left } = pointing;
  return {
    onPointerEnter: moved,
    onPointerMove: moved,
    onPointerDown: moved,
    onWheel: moved,
    onPointerLeave: left,
  };
}
