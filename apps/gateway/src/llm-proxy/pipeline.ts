/** The way of a proxied call: this list and nothing else. A new guard is one file and one line. */

import type { PipelineParts } from './pipeline-parts.js';
import { inOrder, type Step } from './step.js';
import { cacheStep } from './steps/cache.step.js';
import { forwardStep } from './steps/forward.step.js';
import { holdAgainStep, holdStep } from './steps/hold.step.js';
import { identifyAgainStep, identifyStep } from './steps/identify.step.js';
import { killSwitchStep } from './steps/kill-switch.step.js';
import { policyAgainStep, policyStep } from './steps/policy.step.js';
import { receiveStep } from './steps/receive.step.js';
import { recordStep } from './steps/record.step.js';
import { semanticLoopStep } from './steps/semantic-loop.step.js';
import { sessionBegunStep, sessionStepsStep } from './steps/session-steps.step.js';
import { traceStep } from './steps/trace.step.js';

export function pipeline(parts: PipelineParts): readonly Step[] {
  const hold = holdStep(parts.hold);
  // Commands come at any time: asked again behind whatever may wait, and last of all before the upstream.
  const holdAgain = holdAgainStep(hold);
  const policyAgain = policyAgainStep(parts.policy, holdAgain);
  const identifyAgain = identifyAgainStep(parts.identify);
  const again = [holdAgain, policyAgain, identifyAgain];
  return [
    traceStep(parts.trace),
    identifyStep(parts.identify),
    recordStep(parts.record),
    receiveStep(parts.receive),
    sessionStepsStep(parts.stepFeed),
    policyStep(parts.policy),
    hold,
    policyAgain,
    identifyAgain,
    killSwitchStep(parts.killSwitch),
    semanticLoopStep(parts.semanticLoop),
    ...again,
    cacheStep(parts.cache, inOrder(again)),
    ...again,
    sessionBegunStep(parts.stepFeed),
    forwardStep(parts.forward),
  ];
}
