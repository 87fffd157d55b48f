/** Keeps the whole fleet in view until somebody moves the map; from then on the view is theirs. */
import { useReactFlow, useStore, useStoreApi } from '@xyflow/react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { extentOf, type PlacedFleet } from './fleet-layout';

/** Room at the edges for the name of a looping agent, from afar wider than its card; at the left for the controls, too. */
const FIT = { padding: { left: '60px', right: '32px', y: '32px' }, maxZoom: 1 } as const;
const GLIDE_MS = 300;

export interface AutoFit {
  /** Brought into view, or moved by somebody. Until then nobody knows how much of a card can be read. */
  isFitted: boolean;
  onInit: () => void;
  onMoveStart: (event: MouseEvent | TouchEvent | null) => void;
  /** Moved by a button or in the overview, of which React Flow tells nothing. */
  leaveToThem: () => void;
  /** Asked for the whole fleet: it stays in view again. */
  onFitView: () => void;
}

export function useAutoFit(placed: PlacedFleet): AutoFit {
  const flow = useReactFlow();
  const store = useStoreApi();
  const isTheirs = useRef(false);
  const hasFitted = useRef(false);
  const [isFitted, setIsFitted] = useState(false);
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const { width: right, height: bottom } = useMemo(() => extentOf(placed), [placed]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new extent or size of the canvas is the reason to look again.
  useEffect(() => {
    if (isTheirs.current || width === 0 || right === 0) return;
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches || !hasFitted.current;
    hasFitted.current = true;
    requestAnimationFrame(() => {
      if (!isTheirs.current) void flow.fitView({ ...FIT, duration: calm ? 0 : GLIDE_MS });
    });
  }, [right, bottom, width, height, flow]);

  const leaveToThem = () => {
    isTheirs.current = true;
    setIsFitted(true);
    // React Flow does what it was asked for some frames later, and would still do it.
    store.setState({ fitViewQueued: false });
  };

  return {
    isFitted,
    onInit: () => {
      if (!isTheirs.current) void flow.fitView(FIT).finally(() => setIsFitted(true));
    },
    /** React Flow gives no event for movements of our own. */
    onMoveStart: (event) => {
      if (event) leaveToThem();
    },
    leaveToThem,
    onFitView: () => {
      isTheirs.current = false;
    },
  };
}

/** Whether no agent is out of sight. */
export function useIsAllInView(placed: PlacedFleet): boolean {
  const extent = useMemo(() => extentOf(placed), [placed]);
  return useStore(
    ({ transform: [x, y, zoom], width, height }) =>
      x >= 0 && y >= 0 && x + extent.width * zoom <= width && y + extent.height * zoom <= height,
  );
}
