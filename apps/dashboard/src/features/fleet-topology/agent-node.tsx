/**
 * An agent on the map, and the frame around a session. The further away, the less a card says: everything, its name
 * in larger letters, its colour. Calm states are toned down there, so that what needs somebody stands out; what loops is
 * filled, and named at any distance where there is room. A loop that burns no more is a faded frame.
 */
import type { NodeProps } from '@xyflow/react';
import { Ghost } from 'lucide-react';
import { memo, useContext } from 'react';
import { NONE_SINCE_START } from '../../app/begun-anew';
import { CutMiddle, cx, plural, truncateMiddle, withUnseen } from '../../ui';
import { type FleetNode, fleetColour, fleetLabel, isFromBefore } from './fleet-nodes';
import { type FleetState, fleetState } from './fleet-search';
import { loopName } from './loop-names';
import { type MapDetail, MapDetailContext } from './map-detail';
import type { AgentElement, ClusterElement } from './map-elements';
import { StepCount } from './step-count';

export const AgentNode = memo(function AgentNode({ data, width, height }: NodeProps<AgentElement>) {
  const { node, dimmed, selected, tabStop, named } = data;
  const detail = useContext(MapDetailContext);
  const state = fleetState(node);
  const isLooping = state === 'alert_entropy';
  return (
    <>
      <button
        type="button"
        tabIndex={tabStop ? 0 : -1}
        data-testid="fleet-node"
        data-node-id={node.node_id}
        data-agent-id={node.agent_id}
        data-state={node.state}
        data-rest={node.rest}
        aria-pressed={selected}
        aria-label={detail === 'colours' ? describe(node) : undefined}
        style={{ width, height, '--state': fleetColour(node) } as React.CSSProperties}
        className={cx(
          'relative flex items-center gap-2 overflow-hidden rounded-lg border pr-2.5 text-left',
          'focus-visible:outline-[max(2px,calc(2px/var(--zoom,1)))]',
          fillClass(state, detail),
          node.ghost && 'border-dashed',
          selected
            ? 'border-accent ring-[max(2px,calc(2px/var(--zoom,1)))] ring-accent'
            : borderClass(state, detail),
          detail === 'names' ? 'pl-4.5' : 'pl-3.5',
          state === 'dead' && 'text-muted',
          dimmed && 'opacity-25',
          // A calm card that is read keeps the system's colours, but for its stripe.
          (selected || detail === 'colours' || !isCalm(state)) && 'says-by-colour',
        )}
      >
        {isLooping ? (
          <span
            aria-hidden="true"
            className={cx(
              'pointer-events-none absolute inset-0 rounded-lg border-3 border-(--state) flashes',
              detail === 'colours' && 'bg-(--state)',
              detail === 'names' && 'bg-white/20',
            )}
          />
        ) : null}
        {detail === 'colours' ? null : <CardText node={node} state={state} namesOnly={detail === 'names'} />}
        {/* Where links end, as React Flow measures it. Its own Handle watches the whole store, once per node. */}
        <span
          aria-hidden="true"
          data-nodeid={node.node_id}
          data-handlepos="right"
          className="source target invisible absolute top-1/2 left-1/2 size-px"
        />
      </button>
      {named ? (
        <span
          aria-hidden="true"
          className="says-by-colour pointer-events-none absolute bottom-full left-1/2 -translate-x-1/2 rounded-[.3em] bg-danger-solid px-[.4em] font-semibold text-[calc(12px/var(--zoom,1))] text-white leading-[1.5] whitespace-nowrap"
        >
          {loopName(node.agent_id)}
        </span>
      ) : null}
    </>
  );
});

/** A calm state is toned down, so that from afar what needs somebody stands out. */
function fillClass(state: FleetState, detail: MapDetail): string {
  if (state === 'loop_rests') return 'bg-surface shadow-panel hover:bg-hover';
  // Over: less than what is only silent.
  if (detail === 'colours' && state === 'dead')
    return 'bg-[color-mix(in_srgb,var(--state)_25%,var(--surface))]';
  if (detail === 'colours')
    return isCalm(state) ? 'bg-[color-mix(in_srgb,var(--state)_60%,var(--surface))]' : 'bg-(--state)';
  if (detail === 'all' || isCalm(state)) return 'bg-surface shadow-panel hover:bg-hover';
  return state === 'alert_entropy'
    ? 'bg-danger-solid text-white'
    : 'bg-[color-mix(in_srgb,var(--state)_25%,var(--surface))]';
}

function borderClass(state: FleetState, detail: MapDetail): string {
  if (state === 'loop_rests')
    return detail === 'colours' ? 'border-[12px] border-(--state)' : 'border-2 border-(--state)';
  if (detail === 'colours') return 'border-transparent';
  return detail === 'all' || isCalm(state) ? 'border-line-strong' : 'border-(--state)';
}

const isCalm = (state: FleetState): boolean => state === 'active' || state === 'idle' || state === 'dead';

const describe = (node: FleetNode): string =>
  `${node.agent_id}, ${fleetLabel(node)}, ${isFromBefore(node) ? `steps: ${NONE_SINCE_START}` : plural(node.step_count, 'step')}${node.ghost ? ', never sent a valid message' : ''}`;

function CardText({ node, state, namesOnly }: { node: FleetNode; state: FleetState; namesOnly: boolean }) {
  const name = fleetLabel(node);
  return (
    <>
      <span
        aria-hidden="true"
        className={cx('says-by-colour absolute inset-y-0 left-0 bg-(--state)', namesOnly ? 'w-2.5' : 'w-1.5')}
      />
      <span className="min-w-0 flex-1">
        <span
          className={cx(
            'flex items-center gap-1 font-medium',
            namesOnly ? 'text-[24px] leading-[26px]' : 'text-xs',
          )}
        >
          {node.ghost ? (
            <Ghost size={namesOnly ? 18 : 12} className="shrink-0 text-warning" aria-hidden="true" />
          ) : null}
          {namesOnly ? (
            <span className="line-clamp-2 [overflow-wrap:anywhere]">{withUnseen(node.agent_id)}</span>
          ) : (
            <CutMiddle text={node.agent_id} />
          )}
        </span>
        <span className="sr-only">
          , {name}, {node.ghost ? 'never sent a valid message, ' : ''}
        </span>
        {namesOnly ? null : (
          <span
            aria-hidden={isCalm(state) && !node.stopped ? undefined : true}
            className="block truncate text-2xs text-muted"
          >
            {isCalm(state) && !node.stopped ? node.last_intent || name : name}
          </span>
        )}
      </span>
      {namesOnly ? null : (
        <span className="nums shrink-0 self-start pt-2 font-mono text-2xs text-muted">
          <span className="sr-only">steps: </span>
          <StepCount node={node} />
        </span>
      )}
    </>
  );
}

export const ClusterNode = memo(function ClusterNode({ data }: NodeProps<ClusterElement>) {
  const { session_id, width, height, agentCount } = data.cluster;
  const detail = useContext(MapDetailContext);
  return (
    <div
      style={{ width, height }}
      className={cx(
        'rounded-xl border border-line-strong/70 bg-sunken px-2.5 font-mono text-muted',
        detail === 'names' ? 'text-[22px] leading-[30px]' : 'pt-1.5 text-2xs',
      )}
    >
      {detail === 'colours' ? null : (
        <span className="block truncate">
          {session_id ? `${truncateMiddle(session_id, 22)} · ${agentCount}` : 'No valid message yet'}
        </span>
      )}
    </div>
  );
});
