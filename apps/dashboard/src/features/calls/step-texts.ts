/** What the steps of the pipeline are called, and what came of those that did something, in words. Pure. */
import { SEMANTIC_LOOP_ACTIONS } from '#contracts';

/** By step, then outcome; what is not here is shown as it came. */
const OUTCOMES: Record<string, Record<string, string>> = {
  semantic_loop: {
    noted: 'asked before, without a place for a hint',
    hinted: 'asked before, so a hint was added',
    alerted: 'asked before, so an alert was raised',
    paused: 'asked before, so an alert was raised and the session paused',
    unavailable: 'not checked, the sidecar or its store did not answer; the call went on without',
    timeout: 'not checked in time; the call went on without',
    busy: 'not checked, the sidecar was busy; the call went on without',
    invalid: 'not checked, the sidecar could not read the prompt; the call went on without',
    error: 'not checked, the sidecar failed; the call went on without',
  },
  cache: { cached: 'answered from the cache, the upstream was not asked' },
};

/** Outcomes that are no news: the step let the call through. */
const PLAIN = new Set(['passed', 'ok']);

export const isPlainOutcome = (outcome: string): boolean => PLAIN.has(outcome);

/** Failed open: the call went on without this step. */
export const isFailedOpen = (name: string, outcome: string): boolean =>
  name === 'semantic_loop' &&
  outcome in (OUTCOMES.semantic_loop ?? {}) &&
  !SEMANTIC_LOOP_ACTIONS.some((action) => action === outcome);

export const stepName = (name: string): string => name.replaceAll('_', ' ');

export const outcomeText = (name: string, outcome: string): string =>
  OUTCOMES[name]?.[outcome] ?? outcome.replaceAll('_', ' ');
