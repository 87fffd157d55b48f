/** Two texts side by side, one above the other on a phone, with what they share or what tells them apart marked. */
import type { ReactNode } from 'react';
import { cx } from '../../ui';
import { EmphasisedText } from './emphasised-text';

interface ComparedText {
  title: string;
  /** Beside the title: a link to where it was said. */
  aside?: ReactNode;
  text: string;
}

interface TextPairProps {
  /** The earlier first. */
  texts: readonly [ComparedText, ComparedText];
  marks: 'shared' | 'differences';
  /** One above the other, however wide the page is. */
  isStacked?: boolean;
}

export function TextPair({ texts, marks, isStacked = false }: TextPairProps) {
  const [first, second] = texts;
  const tone = marks === 'shared' ? 'prompt' : 'difference';
  return (
    <div className={cx('grid gap-2', isStacked ? 'grid-cols-1' : 'grid-cols-2 max-md:grid-cols-1')}>
      {[
        { ...first, reference: second.text },
        { ...second, reference: first.text },
      ].map(({ title, aside, text, reference }) => (
        <div key={title} className="min-w-0 rounded-md border border-line bg-surface px-2.5 py-2">
          <p className="mb-1 flex items-baseline justify-between gap-2 text-2xs text-muted">
            {title}
            {aside}
          </p>
          {text.trim() === '' ? (
            <p className="text-faint text-xs">No text of its own</p>
          ) : (
            <EmphasisedText text={text} reference={reference} tone={tone} />
          )}
        </div>
      ))}
    </div>
  );
}
