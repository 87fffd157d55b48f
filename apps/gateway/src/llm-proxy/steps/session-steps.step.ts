/** Lets a proxied conversation show up as steps of a session. Before the guards: what they stop came in all the same. */
import type { ProxyCall } from '../proxy-call.js';
import type { StepFeed } from '../sessions/step-feed.js';
import type { Step } from '../step.js';

type Feed = Pick<StepFeed, 'noteRequest' | 'noteSent' | 'noteCost' | 'noteAnswer' | 'noteStepless'>;

export const sessionStepsStep = (feed: Feed): Step => ({
  name: 'session_steps',
  onFailure: 'open',
  run(call: ProxyCall): undefined {
    feed.noteRequest(call);
  },
  settle(call: ProxyCall): void {
    feed.noteCost(call);
    const hasEnded =
      call.wasSent || call.wasHeard || call.decision === 'cached' || call.decision === 'upstream_failed';
    if (!hasEnded || !feed.noteAnswer(call)) feed.noteStepless(call);
  },
});

/** The first answer of a session may take minutes, in which somebody must be able to see it and to stop it. Behind the guards. */
export const sessionBegunStep = (feed: Pick<Feed, 'noteSent'>): Step => ({
  name: 'session_steps',
  onFailure: 'open',
  run(call: ProxyCall): undefined {
    feed.noteSent(call);
  },
});
