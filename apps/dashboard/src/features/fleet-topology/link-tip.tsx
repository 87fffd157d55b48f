/** The card of the link that is hovered, focused or clicked, at the middle of its curve and always readable. */
import { useStore, ViewportPortal } from '@xyflow/react';
import type { TopologyData } from '../../realtime';
import { LinkCard } from './link-card';
import type { LinkElement } from './map-elements';

export function LinkTip({ link, topology }: { link: LinkElement | undefined; topology: TopologyData }) {
  const zoom = useStore((state) => state.transform[2]);
  if (!link?.data) return null;
  const { edge, curve } = link.data;
  const nameOf = (nodeId: string) => topology.nodes.get(nodeId)?.agent_id ?? nodeId;
  return (
    <ViewportPortal>
      <div
        role="status"
        className="pointer-events-none absolute top-0 left-0 z-20 w-max origin-top-left"
        style={{
          transform: `translate(${curve.label.x}px, ${curve.label.y}px) scale(${1 / zoom}) translate(-50%, calc(-100% - 8px))`,
        }}
      >
        <LinkCard edge={edge} fromAgent={nameOf(edge.from)} toAgent={nameOf(edge.to)} />
      </div>
    </ViewportPortal>
  );
}
