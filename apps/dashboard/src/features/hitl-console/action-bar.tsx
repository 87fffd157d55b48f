/** The commands that matter, under the thumb: sticks to the bottom of the inspect page. Drawn on a phone only. */
import { useState } from 'react';
import type { SessionView } from '#contracts';
import { useDraft } from '../../app/use-draft';
import { Button, Callout, Dialog } from '../../ui';
import { isStoppedForGood, stoppedAgentOf } from '../session-clusters/rest';
import { usePolicies } from '../session-clusters/use-policies';
import { failureStill } from './failure';
import { guidanceOf, InjectForm } from './inject-form';
import { PrimaryCommand } from './primary-command';
import { TerminateButton } from './terminate-button';
import { useCommand } from './use-command';

export function ActionBar({ session }: { session: SessionView }) {
  const commander = useCommand(session.session_id);
  const policies = usePolicies();
  const [isInjecting, setIsInjecting] = useState(false);
  const draft = useDraft(guidanceOf(session.session_id));
  const isTerminated = session.control.state === 'terminated';
  const still = failureStill(commander.failure, session.control);
  const failure = still ? (
    <Callout tone="danger" alert atMs={still.atMs} className="mb-2">
      {still.message}
    </Callout>
  ) : null;
  const buttons = (
    <div className="sticky bottom-0 z-20 border-line border-t bg-surface p-3">
      {isInjecting ? null : failure}
      <div className="flex gap-2">
        <TerminateButton session={session} commander={commander} size="lg" className="px-3" />
        {session.ended ? null : (
          <Button size="lg" className="flex-1" onClick={() => setIsInjecting(true)}>
            Guide
          </Button>
        )}
        <PrimaryCommand
          session={session}
          commander={commander}
          isAgentStopped={isStoppedForGood(stoppedAgentOf(session, policies))}
          size="lg"
          className="flex-[2] overflow-hidden"
        />
      </div>
    </div>
  );
  return (
    <>
      {isTerminated ? null : buttons}
      <Dialog open={isInjecting} onOpenChange={setIsInjecting} title="Inject guidance">
        {/* The bar is behind the dialog. */}
        {failure}
        <InjectForm commander={commander} session={session} draft={draft} />
      </Dialog>
    </>
  );
}
