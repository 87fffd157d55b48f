/** A text with the words marked that it shares with another. */
import { useMemo } from 'react';
import { cx } from '../../ui';
import { emphasise } from './word-emphasis';

const marks = {
  prompt: 'bg-accent-soft text-accent',
  response: 'bg-paused-soft text-paused',
} as const;

interface EmphasisedTextProps {
  text: string;
  /** Null: there is nothing to compare with. */
  reference: string | null;
  tone: keyof typeof marks;
}

export function EmphasisedText({ text, reference, tone }: EmphasisedTextProps) {
  const runs = useMemo(
    () => (reference === null ? [{ text, isShared: false }] : emphasise(text, reference)),
    [text, reference],
  );
  return (
    <div className="whitespace-pre-wrap text-xs leading-[18px] [overflow-wrap:anywhere]">
      {runs.map((run, index) =>
        run.isShared ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: runs of an immutable text.
          <mark key={index} className={cx('rounded-[3px] box-decoration-clone px-0.5', marks[tone])}>
            {run.text}
          </mark>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: runs of an immutable text.
          <span key={index}>{run.text}</span>
        ),
      )}
    </div>
  );
}
