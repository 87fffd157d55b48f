/** Text to read or to copy as it stands: JSON, a command. Long content scrolls inside. */
import { CopyButton } from './copy-button';
import { cx } from './cx';
import { scrollRegion } from './scroll-region';

interface CodeBlockProps {
  code: string;
  /** What it is, for the copy button's name. */
  label: string;
  className?: string;
}

export function CodeBlock({ code, label, className }: CodeBlockProps) {
  return (
    <div className={cx('relative rounded-md border border-line bg-sunken', className)}>
      <div
        {...scrollRegion(label)}
        className="max-h-72 overflow-auto p-2.5 pr-9 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]"
      >
        {code}
      </div>
      <CopyButton text={code} label={`Copy ${label}`} className="absolute top-1.5 right-1.5" />
    </div>
  );
}
