/** Replaces the tool input of one held message before it goes out. */
import { type FormEvent, useState } from 'react';
import type { StepView } from '#contracts';
import { type Draft, useDraft } from '../../app/use-draft';
import { Button, Callout, Dialog, Field, Textarea, useFocusFirstError } from '../../ui';
import { editableInput, parseInput } from './tool-input';
import type { Commander } from './use-command';

const GONE = 'It is not held any more: it went out, or its session was ended.';

interface RewriteDialogProps {
  /** As it was when it was opened; null = closed. */
  step: StepView | null;
  /** Null: somebody has let it go meanwhile. What was typed stays readable. */
  now: StepView | null;
  commander: Commander;
  onClose: () => void;
}

export function RewriteDialog({ step, now, commander, onClose }: RewriteDialogProps) {
  const draft = useDraft(`rewrite ${step?.gateway.seq}`);
  const discard = () => {
    draft[1](null);
    onClose();
  };
  // Closed meanwhile, nobody would see that it was refused.
  const close = () => commander.isBusy('rewrite') || discard();
  return (
    <Dialog
      open={step !== null}
      onOpenChange={(open) => open || close()}
      title="Rewrite held message"
      description={step ? `${step.cognition.intent} · ${step.action.tool_call || 'no tool'}` : ''}
      className="md:max-w-2xl"
    >
      {step ? (
        <RewriteForm
          key={step.gateway.seq}
          step={step}
          now={now}
          commander={commander}
          draft={draft}
          onSaved={discard}
          onCancel={close}
        />
      ) : null}
    </Dialog>
  );
}

interface RewriteFormProps {
  step: StepView;
  now: StepView | null;
  commander: Commander;
  draft: Draft;
  onSaved: () => void;
  onCancel: () => void;
}

function RewriteForm({ step, now, commander, draft, onSaved, onCancel }: RewriteFormProps) {
  const [typed, setTyped] = draft;
  const original = editableInput(step);
  const text = typed ?? original;
  const isHeld = now !== null;
  const [problem, setProblem] = useState<string | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const element = useFocusFirstError({ text: problem });
  const isSaving = commander.isBusy('rewrite');

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const parsed = parseInput(text, step);
    setProblem(parsed.ok ? null : parsed.problem);
    if (!parsed.ok) return;
    setFailure(null);
    try {
      const { content } = parsed;
      await commander.sendOrThrow({ command: 'rewrite', trace_id: step.meta.trace_id, new_content: content });
      onSaved();
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };

  return (
    <form ref={element} onSubmit={submit} className="flex flex-col gap-3">
      <Field
        label="Tool input"
        hint="Goes out in place of the agent's own on resume, and to the agent as a directive. The audit keeps who did it."
        error={problem}
      >
        <Textarea
          data-testid="hitl-rewrite-text"
          rows={12}
          spellCheck={false}
          value={text}
          onChange={(event) => setTyped(event.target.value)}
          className="font-mono text-xs"
        />
      </Field>
      {isHeld || isSaving ? null : (
        <Callout tone="warning" alert>
          {GONE}
        </Callout>
      )}
      {now === null || isSaving || editableInput(now) === original ? null : (
        <Callout tone="warning" alert>
          {now.gateway.rewritten_by} has rewritten it meanwhile. Yours would take the place of
          <pre className="mt-1 max-h-24 overflow-auto whitespace-pre-wrap font-mono text-xs [overflow-wrap:anywhere]">
            {editableInput(now)}
          </pre>
        </Callout>
      )}
      {failure ? (
        <Callout tone="danger" alert>
          Not rewritten: {failure}
        </Callout>
      ) : null}
      <div className="flex justify-end gap-2">
        <Button disabled={isSaving} onClick={onCancel}>
          Cancel
        </Button>
        <Button
          data-testid="hitl-rewrite-confirm"
          type="submit"
          variant="primary"
          busy={isSaving}
          disabledReason={commander.denial ?? (isHeld ? null : GONE)}
        >
          Rewrite
        </Button>
      </div>
    </form>
  );
}
