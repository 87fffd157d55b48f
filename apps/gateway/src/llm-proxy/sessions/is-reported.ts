import { PROXY_SOURCE, type SessionView } from '#contracts';

/** Its agent tells its steps and what they cost itself, so that its calls do not. */
export const isReported = ({ source_app, step_count }: SessionView): boolean =>
  step_count > 0 && source_app !== PROXY_SOURCE;
