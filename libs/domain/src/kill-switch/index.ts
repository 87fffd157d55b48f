/** Kill switch: stops an agent that repeats itself. Pure: windows, scores and evidence; what follows is the app's. */
export {
  type Fingerprint,
  fingerprint,
  hammingDistance,
  isSimilar,
  type RawFingerprint,
  rawFingerprint,
  SIMILAR_WHEN_DISTANCE_BELOW,
} from './fingerprint.js';
export type { KillSwitchDecision, ObservedRequest } from './kill-switch-window.js';
export {
  type KillSwitchCounts,
  KillSwitchWindows,
  type KillSwitchWindowsOptions,
  WINDOW_CHARS_MAX,
  WINDOW_COUNT_MAX,
  WINDOW_IDLE_MS,
} from './kill-switch-windows.js';
export { normalise } from './normalise.js';
export { redact } from './redact.js';
export { applyKillSwitchPatch, DEFAULT_KILL_SWITCH, presetOf } from './settings.js';
export { canonicalArguments, toolCallKey } from './tool-call-key.js';
