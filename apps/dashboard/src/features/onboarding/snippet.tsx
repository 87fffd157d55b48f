/** Code to paste elsewhere, with a copy button that is hard to miss. */
import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button, copyText } from '../../ui';
import { ScrollSideways } from '../../ui/scroll-sideways';

interface SnippetProps {
  code: string;
  label: string;
  testId?: string | undefined;
}

export function Snippet({ code, label, testId }: SnippetProps) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2_000);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <div className="relative">
      {/* A scrolling region has to be reachable by keyboard. */}
      <ScrollSideways
        ground="sunken"
        role="region"
        tabIndex={0}
        aria-label={label}
        className="focus-inset bg-sunken p-4 max-md:pb-16"
      >
        <pre data-testid={testId} className="w-max min-w-full font-mono text-xs leading-5 md:pr-24">
          {code}
        </pre>
      </ScrollSideways>
      <Button
        size="sm"
        icon={copied ? <Check size={13} aria-hidden="true" /> : <Copy size={13} aria-hidden="true" />}
        onClick={() => void copyText(code).then(setCopied)}
        aria-label={copied ? 'Copied' : `Copy ${label}`}
        className="absolute top-3 right-3 max-md:top-auto max-md:bottom-3 max-md:h-9"
      >
        {copied ? 'Copied' : 'Copy'}
      </Button>
    </div>
  );
}
