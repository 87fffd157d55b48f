/** Keeps the whole fleet in view until somebody moves the map; from then on the view is theirs. */
import { useReactFlow, useStore } from '@xyflow/react';
import { useEffect, useMemo, useRef } from 'react';
import { CARD, type PlacedFleet } from './fleet-layout';

/** Room at the edges for the name of a looping agent, from afar wider than its card; at the left for the controls, too. */
const FIT = { padding: { left: '60px', right: '32px', y: '32px' }, maxZoom: 1 } as const;
const GLIDE_MS = 300;

export interface AutoFit {
  onInit: () => void;
  onMoveStart: (event: MouseEvent | TouchEvent | null) => void;
}

export function useAutoFit(placed: PlacedFleet): AutoFit {
  const flow = useReactFlow();
  const isTheirs = useRef(false);
  const hasFitted = useRef(false);
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const extent = useMemo(() => extentOf(placed), [placed]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new extent or size of the canvas is the reason to look again.
  useEffect(() => {
    if (isTheirs.current || width === 0 || extent === '') return;
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches || !hasFitted.current;
    hasFitted.current = true;
    requestAnimationFrame(() => void flow.fitView({ ...FIT, duration: calm ? 0 : GLIDE_MS }));
  }, [extent, width, height, flow]);

  return {
    onInit: () => void flow.fitView(FIT),
    /** React Flow gives no event for movements of our own. */
    onMoveStart: (event) => {
      if (event) isTheirs.current = true;
    },
  };
}

/** Changes only when the fleet outgrows, or no longer fills, the area it covers. */
function extentOf({ points }: PlacedFleet): string {
  if (points.size === 0) return '';
  let right = 0;
  let bottom = 0;
  for (const { x, y } of points.values()) {
    right = Math.max(right, x + CARD.width);
    bottom = Math.max(bottom, y + CARD.height);
  }
  return `${right}x${bottom}`;
}
