/** Guidance for the agent: it arrives as a directive, and through the proxy as a system message of its next call. */
import { CornerDownLeft } from 'lucide-react';
import { type FormEvent, useRef, useState } from 'react';
import type { ControlMode, SessionView } from '#contracts';
import { useShortcut } from '../../app/keyboard/use-shortcut';
import type { Draft } from '../../app/use-draft';
import { Button, Field, Kbd, Textarea } from '../../ui';
import { isOver } from './control-texts';
import type { Commander } from './use-command';

const hints: Record<ControlMode, string> = {
  enforced: 'Added to its next LLM call, and delivered as a directive.',
  cooperative: 'Delivered when the agent next asks.',
  observe_only:
    'Goes with the answer to its next message. It never asked for control, so it may not read it.',
};

const OVER = 'It is over: nobody reads this any more.';

interface InjectFormProps {
  commander: Commander;
  session: Pick<SessionView, 'ended' | 'control'>;
  draft: Draft;
}

/** What its draft is for. */
export const guidanceOf = (sessionId: string): string => `guidance ${sessionId}`;

export function InjectForm({ commander, session, draft }: InjectFormProps) {
  const denial = commander.denial ?? (isOver(session) ? OVER : null);
  const [typed, setTyped] = draft;
  const prompt = typed ?? '';
  const [sentCount, setSentCount] = useState(0);
  const textRef = useRef<HTMLTextAreaElement>(null);
  // The steps of the timeline are a stop of the Tab key each, and stand before it.
  useShortcut('guide', () => textRef.current?.focus());
  const submit = async (event?: FormEvent) => {
    event?.preventDefault();
    if (!prompt.trim() || commander.isBusy('inject') || denial) return;
    const answer = await commander.send({ command: 'inject', prompt: prompt.trim() });
    if (!answer) return;
    // What was typed since is not sent.
    setTyped((current) => (current === prompt ? null : current));
    setSentCount((count) => count + 1);
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
      <Field label="Guidance" hint={denial ?? hints[session.control.mode]}>
        <Textarea
          ref={textRef}
          data-testid="hitl-inject-text"
          rows={3}
          maxLength={65_536}
          readOnly={commander.denial !== null}
          className="read-only:bg-sunken"
          value={prompt}
          placeholder="What should the agent do differently?"
          onChange={(event) => setTyped(event.target.value || null)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void submit();
          }}
        />
      </Field>
      <div className="flex items-center gap-2">
        <Button
          data-testid="hitl-inject"
          type="submit"
          icon={<CornerDownLeft size={14} aria-hidden="true" />}
          busy={commander.isBusy('inject')}
          disabledReason={denial}
          disabled={!prompt.trim()}
          className="max-md:h-11"
        >
          Inject guidance
        </Button>
        <span className="max-md:hidden">
          <Kbd keys="mod+enter" />
        </span>
        <span role="status" className="ml-auto text-success text-xs">
          {sentCount > 0 && !prompt ? 'Sent' : ''}
        </span>
      </div>
    </form>
  );
}
