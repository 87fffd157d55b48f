/** Removes entries by a pattern. How many would go is said before anything goes. */
import { useState } from 'react';
import { ConfirmDialog, Field, Input, plural, toast, useRested } from '../../ui';
import { Segmented } from '../../ui/segmented';
import { useInvalidate, useInvalidatePreview } from './use-cache';

const TYPED_PAUSE_MS = 250;
const PATTERN_CHARS_MAX = 200;

type Reach = 'pattern' | 'everything';
const REACHES: readonly { value: Reach; label: string }[] = [
  { value: 'pattern', label: 'Those that match' },
  { value: 'everything', label: 'Everything' },
];

interface InvalidateDialogProps {
  /** What the pattern begins with. */
  pattern: string;
  onClose: () => void;
}

export function InvalidateDialog({ pattern: first, onClose }: InvalidateDialogProps) {
  const [reach, setReach] = useState<Reach>('pattern');
  const [typed, setTyped] = useState(first);
  const pattern = useRested(typed.trim(), TYPED_PAUSE_MS);
  const isEverything = reach === 'everything';
  const wanted = isEverything ? null : pattern;
  const preview = useInvalidatePreview(wanted, isEverything || pattern !== '');
  const isCurrent = (isEverything || pattern === typed.trim()) && !preview.isFetching;
  const count = isCurrent ? preview.data?.count : undefined;
  const invalidate = useInvalidate();
  const remove = async () => {
    const removed = await invalidate(wanted);
    toast({ title: `${plural(removed, 'entry', 'entries')} removed`, tone: 'success' });
  };
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => open || onClose()}
      title="Invalidate"
      description="What is removed is asked of the upstream again. It cannot be brought back."
      confirmLabel={count ? `Remove ${plural(count, 'entry', 'entries')}` : 'Remove'}
      isReady={count !== undefined && count > 0}
      typeToConfirm={isEverything ? 'everything' : undefined}
      onConfirm={remove}
    >
      <Segmented
        label="What to remove"
        value={reach}
        options={REACHES}
        onChange={setReach}
        className="self-start"
      />
      {isEverything ? (
        <p className="text-muted">Every entry of this tenant, of every agent and model.</p>
      ) : (
        <Field
          label="Pattern"
          hint={
            <>
              A key, <Code>agent:name</Code>, <Code>model:name</Code> or <Code>upstream:name</Code>;{' '}
              <Code>*</Code> stands for anything, <Code>?</Code> for one character.
            </>
          }
        >
          <Input
            value={typed}
            maxLength={PATTERN_CHARS_MAX}
            placeholder="model:gpt-4o*"
            autoComplete="off"
            spellCheck={false}
            autoCapitalize="off"
            onChange={(event) => setTyped(event.target.value)}
            className="font-mono"
          />
        </Field>
      )}
      <p role="status" data-testid="invalidate-preview" className="nums min-h-5">
        {preview.error ? (
          <span className="text-danger">{preview.error.message}</span>
        ) : count === undefined ? (
          <span className="text-muted">
            {!isEverything && typed.trim() === ''
              ? 'Type a pattern to see how many it matches.'
              : 'Counting …'}
          </span>
        ) : count === 0 ? (
          <span className="text-muted">Nothing matches.</span>
        ) : (
          <>
            This removes <span className="font-semibold">{plural(count, 'entry', 'entries')}</span>.
          </>
        )}
      </p>
    </ConfirmDialog>
  );
}

const Code = ({ children }: { children: string }) => (
  <code className="rounded bg-sunken px-1 font-mono text-2xs text-fg">{children}</code>
);
