/** Ends a session for good, after a reason and the typed word. */
import { OctagonX } from 'lucide-react';
import { useState } from 'react';
import type { SessionView } from '#contracts';
import { Button, type ButtonSize, ConfirmDialog } from '../../ui';
import { TERMINATE_TEXTS, TERMINATED_WITHOUT_REASON } from './control-texts';
import { ReasonField } from './reason-field';
import type { Commander } from './use-command';

interface TerminateButtonProps {
  session: SessionView;
  commander: Commander;
  size?: ButtonSize;
  className?: string;
}

export function TerminateButton({ session, commander, size = 'md', className }: TerminateButtonProps) {
  const [isOpen, setIsOpen] = useState(false);
  const [reason, setReason] = useState('');
  return (
    <>
      <Button
        data-testid="hitl-terminate"
        variant="danger-quiet"
        size={size}
        className={className}
        icon={<OctagonX size={15} aria-hidden="true" />}
        disabledReason={commander.denial}
        onClick={() => setIsOpen(true)}
      >
        Terminate
      </Button>
      <ConfirmDialog
        open={isOpen}
        onOpenChange={setIsOpen}
        title="Terminate this session?"
        description={
          <>
            <span className="break-all font-mono text-fg text-xs">{session.session_id}</span>
            <br />
            {TERMINATE_TEXTS[session.control.mode]} This cannot be undone.
          </>
        }
        confirmLabel="Terminate session"
        confirmTestId="hitl-terminate-confirm"
        typeToConfirm="terminate"
        onConfirm={() =>
          commander.sendOrThrow({ command: 'terminate', reason: reason.trim() || TERMINATED_WITHOUT_REASON })
        }
      >
        <ReasonField
          whose="the agent"
          value={reason}
          otherwise={TERMINATED_WITHOUT_REASON}
          onChange={setReason}
        />
      </ConfirmDialog>
    </>
  );
}
