/** Messages stored but not published while the session is stopped, in the order in which they will go out. */
import { Pencil } from 'lucide-react';
import { useState } from 'react';
import type { StepView } from '#contracts';
import { Badge, Button, Panel, RelativeTime } from '../../ui';
import { rewriteDenial } from './control-texts';
import { RewriteDialog } from './rewrite-dialog';
import { editableInput } from './tool-input';
import { useCommand } from './use-command';

interface HeldMessagesProps {
  sessionId: string;
  /** The first to go out. */
  held: readonly StepView[];
  heldCount: number;
}

export function HeldMessages({ sessionId, held, heldCount }: HeldMessagesProps) {
  const commander = useCommand(sessionId);
  const [edited, setEdited] = useState<StepView | null>(null);
  return (
    <>
      {held.length > 0 ? (
        <HeldList held={held} heldCount={heldCount} denial={commander.denial} onRewrite={setEdited} />
      ) : null}
      <RewriteDialog
        step={edited}
        now={held.find((step) => step.gateway.seq === edited?.gateway.seq) ?? null}
        commander={commander}
        onClose={() => setEdited(null)}
      />
    </>
  );
}

interface HeldListProps {
  held: readonly StepView[];
  heldCount: number;
  /** Null where this operator may rewrite them; else why not. */
  denial: string | null;
  onRewrite: (step: StepView) => void;
}

function HeldList({ held, heldCount, denial, onRewrite }: HeldListProps) {
  return (
    <Panel
      title="Held messages"
      aside={<Badge tone="paused">{Math.max(heldCount, held.length)}</Badge>}
      bodyClassName="max-h-80 overflow-y-auto"
      className="border-paused-line"
    >
      <ol>
        {held.map((step, index) => (
          <li
            key={step.gateway.seq}
            data-testid="held-message"
            className="flex items-start gap-2.5 border-line border-b px-3 py-2 last:border-b-0"
          >
            <span className="nums w-4 shrink-0 text-right text-faint">{index + 1}</span>
            <div className="min-w-0 flex-1">
              <p className="truncate font-medium">{step.cognition.intent}</p>
              <p className="truncate font-mono text-muted text-xs" title={editableInput(step)}>
                <bdi>{step.action.tool_call || 'no tool'}</bdi> <bdi>{editableInput(step)}</bdi>
              </p>
              <p className="text-faint text-xs">
                <RelativeTime atMs={step.gateway.received_at_ms} />
                {step.gateway.rewritten_by ? ` · rewritten by ${step.gateway.rewritten_by}` : ''}
              </p>
            </div>
            <Button
              size="sm"
              data-testid="hitl-rewrite"
              icon={<Pencil size={12} aria-hidden="true" />}
              disabledReason={denial ?? rewriteDenial(step.meta.source_app)}
              aria-label={`Rewrite message ${index + 1}`}
              onClick={() => onRewrite(step)}
            >
              Rewrite
            </Button>
          </li>
        ))}
      </ol>
      {heldCount > held.length ? (
        <p className="px-3 py-2 text-faint text-xs">
          The first {held.length} are shown. Resume lets all {heldCount} go out in this order.
        </p>
      ) : null}
    </Panel>
  );
}
