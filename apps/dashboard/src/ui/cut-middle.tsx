/**
 * An id or a name in a column: where it has no room it loses its middle, since they often differ in their last letters alone.
 * Both parts keep the spaces at their seam, and stand in the order in which the whole is read.
 */
import { truncateMiddle, withUnseen } from './format';

/** Letters of the end that stay, however narrow the column. */
const TAIL_CHARS = 6;

interface CutMiddleProps {
  text: string;
  /** Absent: as many as there is room for. */
  charsMax?: number;
}

export function CutMiddle({ text, charsMax = Number.POSITIVE_INFINITY }: CutMiddleProps) {
  // In one line, whatever it holds.
  const letters = [...truncateMiddle(withUnseen(text), charsMax).replaceAll(/\s/g, ' ')];
  const head = letters.slice(0, -TAIL_CHARS).join('');
  return (
    <span dir="auto" className="relative flex w-fit min-w-0 max-w-full">
      {/* Read out, found and copied whole: two parts are two words. */}
      <span className="sr-only">{text}</span>
      {head === '' ? null : (
        <span aria-hidden="true" className="select-none truncate whitespace-pre">
          {head}
        </span>
      )}
      <span aria-hidden="true" className="shrink-0 select-none whitespace-pre">
        {letters.slice(-TAIL_CHARS).join('')}
      </span>
    </span>
  );
}
