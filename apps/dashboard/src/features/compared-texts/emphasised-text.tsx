/** A text with the words marked that it shares with another, or with any of several, or those that it does not. */
import { useMemo } from 'react';
import { cx } from '../../ui';
import { emphasise } from './word-emphasis';

const marks = {
  prompt: 'bg-accent-soft text-accent',
  response: 'bg-paused-soft text-paused',
  difference: 'bg-warning-soft text-warning',
} as const;

interface EmphasisedTextProps {
  text: string;
  /** Null: there is nothing to compare with. Several are the same array each time, or each time are compared anew. */
  reference: string | readonly string[] | null;
  /** `difference` marks what the two do not share; the others mark what they do. */
  tone: keyof typeof marks;
}

export function EmphasisedText({ text, reference, tone }: EmphasisedTextProps) {
  const runs = useMemo(
    () => (reference === null ? null : emphasise(text, ...[reference].flat())),
    [text, reference],
  );
  const marksShared = tone !== 'difference';
  return (
    <div className="whitespace-pre-wrap text-xs leading-[18px] [overflow-wrap:anywhere]">
      {runs === null
        ? text
        : runs.map((run, index) =>
            run.isShared === marksShared && run.text.trim() !== '' ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: runs of an immutable text.
              <MarkedRun key={index} text={run.text} className={marks[tone]} />
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: runs of an immutable text.
              <span key={index}>{run.text}</span>
            ),
          )}
    </div>
  );
}

/** White space at either end is not marked: what differs does not carry it along. */
function MarkedRun({ text, className }: { text: string; className: string }) {
  const words = text.trim();
  const start = text.indexOf(words);
  return (
    <>
      {text.slice(0, start)}
      <mark className={cx('rounded-[3px] box-decoration-clone px-0.5', className)}>{words}</mark>
      {text.slice(start + words.length)}
    </>
  );
}
