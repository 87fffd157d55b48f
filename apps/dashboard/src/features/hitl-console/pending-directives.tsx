/** What has been said to the agent and not been taken by it yet. */
import type { Directive } from '#contracts';
import { plural, RelativeTime } from '../../ui';
import { reasonText } from './control-texts';

export function PendingDirectives({ directives }: { directives: readonly Directive[] }) {
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
