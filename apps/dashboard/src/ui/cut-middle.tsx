/** An id in a column: where it has no room it loses its middle, since ids often differ in their last letters alone. */
import { truncateMiddle } from './format';

/** Letters of the end that stay, however narrow the column. */
const TAIL_CHARS = 6;

export function CutMiddle({ text, charsMax }: { text: string; charsMax: number }) {
  const letters = [...truncateMiddle(text, charsMax)];
  return (
    <span className="flex min-w-0">
      <span className="truncate">{letters.slice(0, -TAIL_CHARS).join('')}</span>
      <span className="shrink-0">{letters.slice(-TAIL_CHARS).join('')}</span>
    </span>
  );
}
