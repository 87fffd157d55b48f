/** What has been said to the agent and not been taken by it yet. */
import type { ControlView, Directive } from '#contracts';
import { plural, RelativeTime } from '../../ui';
import { reasonText } from './control-texts';

/** Whoever calls through the proxy takes no such order: its calls are held, let go and ended. */
const SEEN_TO_BY_PROXY: ReadonlySet<Directive['type']> = new Set(['pause', 'resume', 'terminate']);

interface PendingDirectivesProps {
  directives: readonly Directive[];
  mode: ControlView['mode'];
}

export function PendingDirectives({ directives: all, mode }: PendingDirectivesProps) {
  const directives = mode === 'enforced' ? all.filter(({ type }) => !SEEN_TO_BY_PROXY.has(type)) : all;
  if (directives.length === 0) return null;
  return (
    <section aria-label="Waiting for the agent" className="border-line border-t pt-2">
      <h3 className="font-medium text-xs">{plural(directives.length, 'directive')} not taken yet</h3>
      <ul className="mt-1 flex flex-col gap-1">
        {directives.map((directive) => (
          <li key={directive.directive_id} className="flex gap-2 text-muted text-xs">
            <span className="font-medium text-fg">{directive.type}</span>
            <span className="min-w-0 flex-1 truncate" title={gistOf(directive)}>
              {gistOf(directive)}
            </span>
            <span>{directive.operator_id}</span>
            <RelativeTime atMs={directive.issued_at_ms} short />
          </li>
        ))}
      </ul>
    </section>
  );
}

const gistOf = ({ prompt, reason, trace_id }: Directive): string | undefined =>
  prompt ?? reasonText(reason ?? null) ?? trace_id;
