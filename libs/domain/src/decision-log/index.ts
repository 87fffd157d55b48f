/** DecisionLogs: from what arrived to what is stored and shown. Pure; storing and publishing is the gateway's. */
export { bodyHash, payloadHash } from './body-hash.js';
export { type ParsedLog, parseDecisionLog, type RefusedLog } from './parse-decision-log.js';
export { type Plainness, plainnessOf } from './plain-log.js';
export { resolveSessionId } from './session-id.js';
export { applyStep, applyUse, type CallUse, initialControl, type SummarisedStep } from './session-summary.js';
export { stepViewOf } from './step-view.js';
export { timestampMsOf } from './timestamp.js';
export { type Violation, violationOf } from './violation.js';
