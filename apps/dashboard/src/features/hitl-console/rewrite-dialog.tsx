/** Replaces the tool input of one held message before it goes out. */
import { type FormEvent, useState } from 'react';
import type { StepView } from '#contracts';
import { Button, Callout, Dialog, Field, Textarea, useFocusFirstError } from '../../ui';
import { editableInput, parseInput } from './tool-input';
import type { Commander } from './use-command';

interface RewriteDialogProps {
  /** Null = closed. */
  step: StepView | null;
  commander: Commander;
  onClose: () => void;
}

export function RewriteDialog({ step, commander, onClose }: RewriteDialogProps) {
  return (
    <Dialog
      open={step !== null}
      onOpenChange={(open) => !open && onClose()}
      title="Rewrite held message"
      description={step ? `${step.cognition.intent} · ${step.action.tool_call || 'no tool'}` : ''}
      className="md:max-w-2xl"
    >
      {step ? (
        <RewriteForm key={step.gateway.seq} step={step} commander={commander} onClose={onClose} />
      ) : null}
    </Dialog>
  );
}

function RewriteForm({ step, commander, onClose }: RewriteDialogProps & { step: StepView }) {
  const [text, setText] = useState(() => editableInput(step));
  const [problem, setProblem] = useState<string | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const element = useFocusFirstError({ text: problem });

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const parsed = parseInput(text, step);
    setProblem(parsed.ok ? null : parsed.problem);
    if (!parsed.ok) return;
    setFailure(null);
    try {
      const { content } = parsed;
      await commander.sendOrThrow({ command: 'rewrite', trace_id: step.meta.trace_id, new_content: content });
      onClose();
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
          onChange={(event) => setText(event.target.value)}
          className="font-mono text-xs"
        />
      </Field>
      {failure ? (
        <Callout tone="danger" alert>
          Not rewritten: {failure}
        </Callout>
      ) : null}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          data-testid="hitl-rewrite-confirm"
          type="submit"
          variant="primary"
          busy={commander.busy === 'rewrite'}
          disabledReason={commander.denial}
        >
          Rewrite
        </Button>
      </div>
    </form>
  );
}
