/** The embedding sidecar: whether it serves, what that means for agents, and what it says of itself. */
import type { SystemView } from '#contracts';
import { Callout, Fact, formatCount, Panel, RelativeTime } from '../../ui';
import { formatSimilarity } from '../semantic-loops/loop-texts';
import { StateBadge } from './state-badge';
import { sidecarText } from './system-texts';

interface SidecarPanelProps {
  sidecar: SystemView['sidecar'];
  /** When it was so; null: it is. */
  asOfMs: number | null;
}

export function SidecarPanel({ sidecar, asOfMs }: SidecarPanelProps) {
  const { label, tone, meaning, advice } = sidecarText(sidecar);
  const { state, since_ms, restart_count, is_supervised } = sidecar;
  const detail = sidecar.detail ?? sidecar.store_problem;
  return (
    <Panel
      title="Embedding sidecar"
      aside={
        <StateBadge tone={tone} asOfMs={asOfMs} data-testid="sidecar-state" data-state={state}>
          {label}
        </StateBadge>
      }
      actions={
        since_ms === null ? null : (
          <span className="text-muted text-xs">
            changed <RelativeTime atMs={since_ms} />
          </span>
        )
      }
      bodyClassName="flex flex-col gap-3 p-3"
    >
      {tone === 'danger' || tone === 'warning' ? (
        <Callout tone={tone}>
          <p>{meaning}</p>
          {detail ? <p className="mt-1 font-mono text-2xs [overflow-wrap:anywhere]">{detail}</p> : null}
          {advice ? <p className="mt-1">{advice}</p> : null}
        </Callout>
      ) : (
        <p className="text-muted">
          {meaning} {advice}
        </p>
      )}
      {state === 'off' ? null : (
        <dl className="grid grid-cols-[max-content_1fr] gap-x-4 gap-y-1.5">
          <Fact name="Started by">
            {is_supervised ? 'this gateway, which also restarts it' : 'somebody else'}
          </Fact>
          {is_supervised ? (
            <Fact name="Restarts">
              <span className={restart_count > 0 ? 'font-medium text-warning' : undefined}>
                {formatCount(restart_count)}
              </span>
            </Fact>
          ) : null}
          {sidecar.model_id === null ? (
            <Fact name="Model">
              <span className="text-faint">not known while it does not answer</span>
            </Fact>
          ) : (
            <Description sidecar={sidecar} />
          )}
        </dl>
      )}
    </Panel>
  );
}

/** What it said of itself when it was asked. */
function Description({ sidecar }: { sidecar: SystemView['sidecar'] }) {
  const { model_id, dimension, store, loop_similarity_threshold, queued } = sidecar;
  return (
    <>
      <Fact name="Model">
        <span className="font-mono text-xs [overflow-wrap:anywhere]">{model_id}</span>
        {dimension === null ? null : <span className="text-muted">, {dimension} dimensions</span>}
      </Fact>
      {store === null ? null : (
        <Fact name="Prompts kept in">
          {store === 'memory' ? 'its own memory: a restart forgets them' : 'Redis'}
        </Fact>
      )}
      {loop_similarity_threshold === null ? null : (
        <Fact name="Loop above">similarity {formatSimilarity(loop_similarity_threshold)}</Fact>
      )}
      {queued === null ? null : <Fact name="Waiting now">{formatCount(queued)}</Fact>}
    </>
  );
}
