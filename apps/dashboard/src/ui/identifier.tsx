/** An id in monospace, cut in the middle, whole in its tooltip and in what is copied. */
import { CopyButton } from './copy-button';
import { CutMiddle } from './cut-middle';
import { cx } from './cx';

interface IdentifierProps {
  id: string;
  charsMax?: number;
  /** What kind of id, for the copy button's name. */
  kind?: string;
  copyable?: boolean;
  className?: string;
}

export function Identifier({ id, charsMax = 20, kind = 'id', copyable = true, className }: IdentifierProps) {
  return (
    <span className={cx('inline-flex min-w-0 max-w-full items-center gap-0.5 font-mono text-xs', className)}>
      <span title={id} className="min-w-0">
        <CutMiddle text={id} charsMax={charsMax} />
      </span>
      {copyable ? <CopyButton text={id} label={`Copy ${kind}`} /> : null}
    </span>
  );
}
