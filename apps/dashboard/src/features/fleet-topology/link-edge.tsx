/** A causal link, thicker the more passed along it. */
import { BaseEdge, type EdgeProps } from '@xyflow/react';
import { memo } from 'react';
import { cx } from '../../ui';
import type { LinkElement } from './map-elements';

const WIDTH_MAX = 5;

/** 1 for a single step, one more for every four times as many. */
const widthFor = (trafficVolume: number): number =>
  Math.min(WIDTH_MAX, 1.25 + Math.log2(Math.max(1, trafficVolume)) / 2);

export const LinkEdge = memo(function LinkEdge({ data, markerEnd }: EdgeProps<LinkElement>) {
  if (!data) return null;
  return (
    <BaseEdge
      path={data.curve.path}
      interactionWidth={18}
      className={cx(data.dimmed && 'opacity-20')}
      style={{ '--link-width': widthFor(data.edge.traffic_volume) } as React.CSSProperties}
      {...(markerEnd ? { markerEnd } : {})}
    />
  );
});
