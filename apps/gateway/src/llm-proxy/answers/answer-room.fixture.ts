import { FairShare } from '../../fair-share.js';
import { AnswerRoom } from './answer-room.js';

/** For one answer of a tenant that has `byteCount` beside what each answer has. */
export const newRoom = (byteCount = Number.MAX_SAFE_INTEGER): AnswerRoom =>
  new AnswerRoom('default', new FairShare({ max: 2 * byteCount, onFull: () => {} }));
