/** How an agent that listens to nothing becomes one that obeys a pause. */
import { CodeBlock } from '../../ui';

/** One long poll; an agent that sends it becomes cooperative. */
const pollSnippet = (sessionId: string): string =>
  `curl -H "Authorization: Bearer $OBSERVATORY_AGENT_KEY" \\
  "${location.origin}/v1/sessions/${encodeURIComponent(sessionId)}/control?wait_s=55&after=0"`;

export function MakeCooperative({ sessionId }: { sessionId: string }) {
  return (
    <details className="text-xs">
      <summary className="text-accent">Make this agent obey a pause</summary>
      <div className="mt-2 flex flex-col gap-2 text-muted">
        <p>Let it poll its control between steps, and stop while the state is “paused”:</p>
        <CodeBlock code={pollSnippet(sessionId)} label="control poll" />
        <p>Or send its LLM calls through the proxy: then a pause holds them, whatever the agent does.</p>
      </div>
    </details>
  );
}
