/** The text of a step as it is stored: the message as sent, with the gateway's score in it. */
import type { DecisionLog } from '#contracts';

const COGNITION = '"cognition":{';
/** Members that the score replaces or that parsing drops. */
const NOT_AS_SENT = /"(?:entropy_s|__proto__|constructor|prototype)/;

/**
 * The log's JSON with the gateway's score in it, without serialising it a second time: what was sent is kept, and
 * the score goes in where `cognition` opens. Where that place or the sender's silence about its own entropy is not
 * beyond doubt, it is serialised after all.
 */
export function withScore(serialised: string, log: DecisionLog): string {
  const at = serialised.indexOf(COGNITION);
  const isPlain = at === serialised.lastIndexOf(COGNITION) && !NOT_AS_SENT.test(serialised);
  const { entropy_score, entropy_severity } = log.cognition;
  if (!isPlain || typeof entropy_score !== 'number') return JSON.stringify(log);
  const opened = at + COGNITION.length;
  const score = `"entropy_score":${entropy_score},"entropy_severity":"${entropy_severity}",`;
  return serialised.slice(0, opened) + score + serialised.slice(opened);
}
