/** Lets a proxied conversation show up as steps of a session. Before the guards: what they stop came in all the same. */
import type { ProxyCall } from '../proxy-call.js';
import type { Step } from '../step.js';
import type { StepFeed } from '../step-feed.js';

export const sessionStepsStep = (feed: Pick<StepFeed, 'noteRequest' | 'noteCost' | 'noteAnswer'>): Step => ({
  name: 'session_steps',
  onFailure: 'open',
  run(call: ProxyCall): undefined {
    feed.noteRequest(call);
  },
  settle(call: ProxyCall): void {
    feed.noteCost(call);
    if (call.wasSent || call.wasHeard || call.decision === 'cached' || call.decision === 'upstream_failed')
      feed.noteAnswer(call);
  },
});
