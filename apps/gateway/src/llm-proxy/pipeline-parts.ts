/** What the steps of the pipeline need, one member each. */
import type { StepFeed } from './sessions/step-feed.js';
import type { CacheParts } from './steps/cache.step.js';
import type { ForwardParts } from './steps/forward.step.js';
import type { HoldParts } from './steps/hold.step.js';
import type { IdentifyParts } from './steps/identify.step.js';
import type { KillSwitchParts } from './steps/kill-switch.step.js';
import type { PolicyParts } from './steps/policy.step.js';
import type { ReceiveParts } from './steps/receive.step.js';
import type { RecordParts } from './steps/record.step.js';
import type { SemanticLoopParts } from './steps/semantic-loop.step.js';
import type { TraceParts } from './steps/trace.step.js';

export interface PipelineParts {
  trace: TraceParts;
  identify: IdentifyParts;
  receive: ReceiveParts;
  record: RecordParts;
  stepFeed: StepFeed;
  policy: PolicyParts;
  hold: HoldParts;
  killSwitch: KillSwitchParts;
  semanticLoop: SemanticLoopParts;
  cache: CacheParts;
  forward: ForwardParts;
}
