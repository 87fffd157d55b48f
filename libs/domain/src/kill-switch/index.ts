/** Kill switch: stops an agent that repeats itself. Pure: windows, scores and evidence; what follows is the app's. */
export {
  type Fingerprint,
  fingerprint,
  hammingDistance,
  isSimilar,
  type RawFingerprint,
  rawFingerprint,
} from './fingerprint.js';
export type { KillSwitchDecision, ObservedRequest } from './kill-switch-window.js';
export {
  type KillSwitchCounts,
  KillSwitchWindows,
  type KillSwitchWindowsOptions,
} from './kill-switch-windows.js';
export { normalise } from './normalise.js';
export { redact, redactedStart } from './redact.js';
export { applyKillSwitchPatch, DEFAULT_KILL_SWITCH, presetOf } from './settings.js';
export { canonicalArguments, toolCallKey } from './tool-call-key.js';
