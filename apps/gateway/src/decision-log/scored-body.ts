/** The text of a step as it is stored: the message as sent, with the gateway's score in it. */
import type { DecisionLog } from '#contracts';

const COGNITION = '"cognition":{';
const SCORE = '"entropy_score":';
/** How the members begin that the score replaces. */
const ENTROPY = '"entropy_s';

/**
 * The log's JSON with the gateway's score in it, without serialising it a second time: what was sent is kept, and
 * the score goes in where `cognition` opens, or where the sender wrote its own. Where that place is not beyond doubt,
 * it is serialised after all.
 *
 * @param serialised the message as JSON.stringify writes it, of which nothing was dropped in parsing
 * @param log the same message, scored
 * @param reported what the sender itself wrote as `cognition.entropy_score`
 */
export function withScore(serialised: string, log: DecisionLog, reported: unknown): string {
  const { entropy_score, entropy_severity } = log.cognition;
  if (typeof entropy_score !== 'number') return JSON.stringify(log);
  const score = `"entropy_score":${entropy_score},"entropy_severity":"${entropy_severity}"`;
  const at = serialised.indexOf(ENTROPY);
  if (reported === undefined) {
    const opens = onlyPlaceOf(COGNITION, serialised);
    if (at !== -1 || opens === -1) return JSON.stringify(log);
    const from = opens + COGNITION.length;
    return `${serialised.slice(0, from)}${score},${serialised.slice(from)}`;
  }
  // Named once in the whole text, and `cognition` has it: this is the place. A number or null ends where it ends.
  if (!serialised.startsWith(SCORE, at) || serialised.indexOf(ENTROPY, at + 1) !== -1)
    return JSON.stringify(log);
  let to = at + SCORE.length;
  while (!isMemberEnd(serialised.charCodeAt(to))) to += 1;
  return serialised.slice(0, at) + score + serialised.slice(to);
}

/** -1 where there is none, or more than one. */
function onlyPlaceOf(part: string, text: string): number {
  const at = text.indexOf(part);
  return at !== -1 && text.indexOf(part, at + part.length) === -1 ? at : -1;
}

/** A comma or a closing brace. */
const isMemberEnd = (code: number): boolean => code === 0x2c || code === 0x7d;
