/** Everything an operator can do to one session, and what is true of it now. */
import { Eye } from 'lucide-react';
import type { SessionDetail } from '#contracts';
import { TextLink } from '../../app/text-link';
import { useDraft } from '../../app/use-draft';
import { Callout, Panel, useIsPhone } from '../../ui';
import { StoppedAgentButton } from '../agents/stopped-agent-button';
import { isStoppedForGood, STOPPED_TEXTS, stoppedAgentOf } from '../session-clusters/rest';
import { usePolicies } from '../session-clusters/use-policies';
import { isOver, isUnheardPause, MODE_TEXTS, standingText } from './control-texts';
import { ExpiryNote } from './expiry-note';
import { failureStill } from './failure';
import { guidanceOf, InjectForm } from './inject-form';
import { MakeCooperative } from './make-cooperative';
import { PendingDirectives } from './pending-directives';
import { PrimaryCommand } from './primary-command';
import { TerminateButton } from './terminate-button';
import { useCommand } from './use-command';

const COMMAND_NAMES: Record<string, string> = {
  pause: 'Not paused',
  resume: 'Not resumed',
  inject: 'Guidance not sent',
};

export function HitlConsole({ detail }: { detail: SessionDetail }) {
  const { session, directives } = detail;
  const { control } = session;
  const commander = useCommand(session.session_id);
  const failure = failureStill(commander.failure, control);
  const isPhone = useIsPhone();
  const draft = useDraft(guidanceOf(session.session_id));
  const policies = usePolicies();
  const stopped = stoppedAgentOf(session, policies);
  const stoppedText = stopped && STOPPED_TEXTS[stopped];
  const isAgentStopped = isStoppedForGood(stopped);
  const isTerminated = control.state === 'terminated';
  /** It has never asked for its control. */
  const isDeaf = control.mode === 'observe_only' && !isOver(session);
  return (
    <Panel title="Control" bodyClassName="flex flex-col gap-3 p-3">
      <p className="text-muted">
        {standingText(control, { ended: session.ended, stoppedText })} <ExpiryNote control={control} />
        {/* What stopped all agents every page says above. */}
        {stopped !== null && stopped !== 'all_stopped' && !isAgentStopped ? (
          <>
            {' '}
            <TextLink to="/agents/$agentId" params={{ agentId: session.agent_id }}>
              See what its policy allows
            </TextLink>
          </>
        ) : null}
      </p>
      {failure ? (
        <Callout tone="danger" alert atMs={failure.atMs}>
          {COMMAND_NAMES[failure.command] ?? 'Not done'}: {failure.message}
        </Callout>
      ) : null}
      {/* Of a pause that it did not hear, the sentence above says so. */}
      {isDeaf && !isUnheardPause(control) ? (
        <Callout tone="warning" icon={<Eye size={14} aria-hidden="true" />}>
          {MODE_TEXTS.observe_only}
        </Callout>
      ) : null}
      {isTerminated || isPhone ? null : (
        <div className="flex flex-wrap items-center gap-2">
          {isAgentStopped ? (
            <StoppedAgentButton
              agentId={session.agent_id}
              incidentId={policies.agents.get(session.agent_id)?.open_incident_id ?? null}
            />
          ) : null}
          <PrimaryCommand session={session} commander={commander} isAgentStopped={isAgentStopped} />
          <TerminateButton session={session} commander={commander} className="ml-auto" />
        </div>
      )}
      {isDeaf ? <MakeCooperative sessionId={session.session_id} /> : null}
      {/* What was typed when somebody else ended it stays readable. */}
      {isPhone || (isOver(session) && !draft[0]) ? null : (
        <InjectForm commander={commander} session={session} draft={draft} />
      )}
      <PendingDirectives directives={directives} mode={control.mode} />
    </Panel>
  );
}
