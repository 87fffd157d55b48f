/** Code to paste elsewhere, with a copy button that is hard to miss. */
import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button, copyText } from '../../ui';
import { ScrollSideways } from '../../ui/scroll-sideways';

/** On a desktop, where it has no line of its own. */
const LINES_UNDER_BUTTON = 2;

interface SnippetProps {
  code: string;
  label: string;
  testId?: string | undefined;
}

export function Snippet({ code, label, testId }: SnippetProps) {
  const [copied, setCopied] = useState(false);
  const lines = code.split('\n');
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
        <pre data-testid={testId} className="w-max min-w-full font-mono text-xs leading-5">
          {/* Room for the button that lies over these lines; beside the others it would be hidden text that is none. */}
          <span className="inline-block md:pr-24">{lines.slice(0, LINES_UNDER_BUTTON).join('\n')}</span>
          {lines.slice(LINES_UNDER_BUTTON).map((line) => `\n${line}`)}
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
