/** Why there is no Pause button, what to do about it, and what can be done meanwhile. */
import { Eye } from 'lucide-react';
import type { SessionView } from '#contracts';
import { Button, Callout, CodeBlock } from '../../ui';
import { MODE_TEXTS } from './control-texts';
import type { Commander } from './use-command';

/** One long poll; an agent that sends it becomes cooperative. */
const pollSnippet = (sessionId: string): string =>
  `curl -H "Authorization: Bearer $OBSERVATORY_AGENT_KEY" \\
  "${location.origin}/v1/sessions/${encodeURIComponent(sessionId)}/control?wait_s=55&after=0"`;

interface MakeCooperativeProps {
  session: SessionView;
  commander: Commander;
}

export function MakeCooperative({ session, commander }: MakeCooperativeProps) {
  return (
    <div className="flex flex-col gap-2">
      <Callout tone="warning" icon={<Eye size={14} aria-hidden="true" />}>
        {MODE_TEXTS.observe_only}
      </Callout>
      {session.control.state === 'active' ? (
        <Button
          data-testid="hitl-hold"
          className="self-start"
          busy={commander.busy === 'pause'}
          disabledReason={commander.denial}
          onClick={() =>
            void commander.send({
              command: 'pause',
              reason: 'Hold messages of an agent that does not listen',
            })
          }
        >
          Hold its messages anyway
        </Button>
      ) : null}
      <details className="group text-xs">
        <summary className="text-accent">Make this agent obey a pause</summary>
        <div className="mt-2 flex flex-col gap-2 text-muted">
          <p>Let it poll its control between steps and stop while the state is “paused”:</p>
          <CodeBlock code={pollSnippet(session.session_id)} label="control poll" />
          <p>Or send its LLM calls through the proxy: then a pause holds them, whatever the agent does.</p>
        </div>
      </details>
    </div>
  );
}
