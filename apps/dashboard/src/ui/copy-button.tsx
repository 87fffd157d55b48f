/** Copies a text and says so for a moment. */
import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { cx } from './cx';

interface CopyButtonProps {
  text: string;
  /** Accessible name: what is copied. */
  label: string;
  className?: string;
}

export function CopyButton({ text, label, className }: CopyButtonProps) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <button
      type="button"
      aria-label={copied ? 'Copied' : label}
      title={label}
      onClick={(event) => {
        event.stopPropagation();
        void copyText(text).then(setCopied);
      }}
      className={cx(
        'inline-flex size-6 shrink-0 items-center justify-center rounded text-faint hover:bg-hover hover:text-fg',
        className,
      )}
    >
      {copied ? <Check size={13} aria-hidden="true" /> : <Copy size={13} aria-hidden="true" />}
    </button>
  );
}

/** True when the text reached the clipboard. Falls back to a selection where the clipboard API is absent (plain http). */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.style.position = 'fixed';
    area.style.opacity = '0';
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}
