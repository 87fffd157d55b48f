/** What a session without a step waits for, as far as its row says it. Pure. */
import type { SessionView } from '#contracts';

/** `held`: an operator has yet to let it go on. `tool`, `answer`: its first step waits for it. `stepless`: its calls make none. Null: nothing is known. */
export type WhyNoSteps = 'held' | 'tool' | 'answer' | 'stepless' | null;

export function whyNoSteps(session: SessionView): WhyNoSteps {
  const { control, ended, last_tool, last_status, tokens, cost_usd, cost_unknown } = session;
  if (control.held_count > 0) return 'held';
  if (last_tool !== '' && !ended) return 'tool';
  if (tokens > 0 || cost_usd > 0 || cost_unknown) return 'stepless';
  return last_status === 'pending' && !ended ? 'answer' : null;
}
