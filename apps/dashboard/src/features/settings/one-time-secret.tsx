/** A secret in the only answer that will ever hold it. It stays until somebody says that they have it. */
import { KeyRound } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button, CopyButton } from '../../ui';

interface OneTimeSecretProps {
  title: string;
  secret: string;
  testId: string;
  onDone: () => void;
  /** How to use it. */
  children?: ReactNode;
}

export function OneTimeSecret({ title, secret, testId, onDone, children }: OneTimeSecretProps) {
  return (
    <section aria-label={title} className="rounded-lg border border-warning-line bg-warning-soft p-4">
      <h2 className="flex items-center gap-2 font-semibold">
        <KeyRound size={15} aria-hidden="true" className="text-warning" />
        {title}
      </h2>
      <p className="mt-0.5 text-xs">It is shown only now and kept nowhere: copy it before you go on.</p>
      <div className="mt-3 flex items-center gap-2 rounded-md border border-line-strong bg-surface py-1.5 pr-1.5 pl-3">
        <code
          data-testid={testId}
          className="min-w-0 flex-1 select-all font-mono text-xs [overflow-wrap:anywhere]"
        >
          {secret}
        </code>
        <CopyButton text={secret} label="Copy the secret" className="!size-8" />
      </div>
      {children ? <div className="mt-3">{children}</div> : null}
      <div className="mt-3 flex justify-end">
        <Button size="sm" onClick={onDone}>
          I have copied it
        </Button>
      </div>
    </section>
  );
}
