/** What a kill switch's score was made of, in words: the signals that there were, so that a phone has room for them. */
import type { Incident } from '#contracts';
import { plural } from '../../ui/format';

export const signalsText = (breakdown: Incident['breakdown']): string =>
  (
    [
      [breakdown.similar_prompts, 'similar prompt'],
      [breakdown.similar_responses, 'similar answer'],
      [breakdown.repeated_tool_calls, 'repeated tool call'],
    ] as const
  )
    .filter(([count]) => count > 0)
    .map(([count, noun]) => plural(count, noun))
    .join(' · ');
