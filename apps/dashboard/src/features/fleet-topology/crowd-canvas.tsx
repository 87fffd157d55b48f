/**
 * A crowd from afar, as one picture: an agent is a spot of colour there, and with an element for each of ten thousand the page
 * stood still for many seconds. What has to be an element all the same lies above it, see `MapElements`.
 */
import { useStore } from '@xyflow/react';
import { useEffect, useMemo, useRef } from 'react';
import { useTheme } from '../../app/theme';
import { crowdSpots, type Spots } from './crowd-spots';
import { CARD, type Cluster, type PlacedFleet } from './fleet-layout';
import type { FleetData, FleetNode } from './fleet-nodes';

interface CrowdCanvasProps {
  topology: FleetData;
  placed: PlacedFleet;
  matches: (node: FleetNode) => boolean;
}

export function CrowdCanvas({ topology, placed, matches }: CrowdCanvasProps) {
  const theme = useTheme((state) => state.theme);
  const ref = useRef<HTMLCanvasElement>(null);
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const transform = useStore((state) => state.transform);
  const spots = useMemo(() => crowdSpots(topology, placed, matches), [topology, placed, matches]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme decides what the colours are.
  useEffect(() => {
    const canvas = ref.current;
    if (!canvas) return;
    const [x, y, zoom] = transform;
    canvas.width = width * devicePixelRatio;
    canvas.height = height * devicePixelRatio;
    const context = canvas.getContext('2d');
    if (!context) return;
    context.scale(devicePixelRatio, devicePixelRatio);
    context.transform(zoom, 0, 0, zoom, x, y);
    paintFrames(context, placed.clusters);
    for (const spot of spots) paintSpots(context, spot);
  }, [spots, placed, transform, width, height, theme]);
  return (
    <canvas ref={ref} data-testid="fleet-crowd" className="pointer-events-none absolute inset-0 size-full" />
  );
}

function paintFrames(context: CanvasRenderingContext2D, clusters: readonly Cluster[]): void {
  context.fillStyle = resolved(context, 'var(--sunken)');
  context.strokeStyle = resolved(context, 'var(--line-strong)');
  for (const { x, y, width, height } of clusters) {
    context.fillRect(x, y, width, height);
    context.strokeRect(x, y, width, height);
  }
}

function paintSpots(context: CanvasRenderingContext2D, { colour, edgeColour, opacity, points }: Spots): void {
  context.globalAlpha = opacity;
  context.fillStyle = resolved(context, edgeColour ?? colour);
  for (const { x, y } of points) context.fillRect(x, y, CARD.width, CARD.height);
  if (edgeColour === null) return;
  context.fillStyle = resolved(context, colour);
  for (const { x, y } of points)
    context.fillRect(x + EDGE_PX, y + EDGE_PX, CARD.width - 2 * EDGE_PX, CARD.height - 2 * EDGE_PX);
}

/** In map pixels, as wide as that of a card. */
const EDGE_PX = 12;

/** A canvas knows no variables. */
function resolved({ canvas }: CanvasRenderingContext2D, colour: string): string {
  canvas.style.color = colour;
  return getComputedStyle(canvas).color;
}
