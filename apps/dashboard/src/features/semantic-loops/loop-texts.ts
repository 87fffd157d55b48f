/** What a semantic loop means and what was done about it, in the words an operator reads. Pure. */
import type { SemanticLoopAction, SemanticLoopEvent, SemanticLoopPolicy } from '#contracts';
import type { Tone } from '../../ui';

export const ACTION_BADGES: Record<SemanticLoopAction, { label: string; tone: Tone }> = {
  noted: { label: 'Noted', tone: 'accent' },
  hinted: { label: 'Hinted', tone: 'accent' },
  alerted: { label: 'Alerted', tone: 'danger' },
  paused: { label: 'Paused', tone: 'paused' },
};

const FURTHER_TEXTS: Record<SemanticLoopAction, string> = {
  noted: '',
  hinted: '',
  alerted: 'An alert was raised.',
  paused: 'An alert was raised, and the session was paused for a person to look.',
};

/** Sentences: whether the model was told, and what else was done. */
export function actionText({ action, is_hinted }: Pick<SemanticLoopEvent, 'action' | 'is_hinted'>): string {
  const further = FURTHER_TEXTS[action];
  if (action === 'hinted' || is_hinted)
    return `A hint was added to the call: take a different approach. ${further}`.trim();
  // Where it was not kept, nothing is said.
  return action === 'noted' || is_hinted === false
    ? `The request had no place for a hint and went on as it came. ${further}`.trim()
    : further;
}

export const LOOP_POLICY_TEXTS: Record<SemanticLoopPolicy, { label: string; text: string }> = {
  off: { label: 'Off', text: 'Its prompts are not compared.' },
  hint: { label: 'Hint', text: 'Each time, a hint goes to the model.' },
  alert: { label: 'Hint, then alert', text: 'The first time a hint; from the second on an alert too.' },
  pause: {
    label: 'Hint, alert, then pause',
    text: 'First a hint, then an alert; from the third time on the session is paused.',
  },
};

/** The scale has three decimals that matter: 0.951 is above 0.95 and must not read as it. */
export const formatSimilarity = (similarity: number): string => similarity.toFixed(3);

/** "0.973, above 0.950": the threshold is exclusive. */
export const againstThreshold = ({
  similarity,
  threshold,
}: Pick<SemanticLoopEvent, 'similarity' | 'threshold'>): string =>
  `${formatSimilarity(similarity)}, above ${formatSimilarity(threshold)}`;

/** One line for somebody who sees the number for the first time. */
export const SCALE_TEXT = '1 means the same, 0.5 means unrelated (1 − cosine distance ÷ 2).';

export type Repeat = 'same_words' | 'other_words';

/** What is asked once more, in words: as a sentence about now, as one about then, and as a badge. */
export const REPEAT_TEXTS: Record<Repeat, { asks: string; asked: string; badge: string }> = {
  same_words: {
    asks: 'Asks the same in the same words',
    asked: 'Asked the same in the same words',
    badge: 'same words',
  },
  other_words: {
    asks: 'Asks the same in other words',
    asked: 'Asked the same in other words',
    badge: 'reworded',
  },
};

/** Both texts are cut: what is equal so far and less than equal in its meaning differs further on. */
export const repeatOf = ({
  prompt,
  similar_prompt,
  similarity,
}: Pick<SemanticLoopEvent, 'prompt' | 'similar_prompt' | 'similarity'>): Repeat =>
  prompt.trim() === similar_prompt.trim() && formatSimilarity(similarity) === '1.000'
    ? 'same_words'
    : 'other_words';

/** "2nd time in this session". */
export function occurrenceText(occurrence: number): string {
  const tens = occurrence % 100;
  const suffix = tens >= 11 && tens <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][occurrence % 10] ?? 'th');
  return `${occurrence}${suffix} time in this session`;
}
