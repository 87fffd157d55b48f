/**
 * What was counted for answers whose end nobody saw, though their vendor keeps them: one that is worked on in the background, a stream
 * that its client left. Whoever fetches such an answer later is told what it took; that is put in the estimate's place, once. They
 * are stored, for the estimate is, too: an answer may be fetched after a restart.
 */
import type { DialectName } from '#contracts';
import { HOUR_MS } from '#kernel';
import type { TakenFor } from '../limits/taken-limits.js';
import { type AnswerStoreParts, StoredAnswers } from './stored-answers.js';

/** The estimate of one that gives way stands. */
export const ANSWER_COUNT_MAX = 20_000;
/** Vendors work on an answer for hours at most. */
const ANSWER_IDLE_MS = 24 * HOUR_MS;

/** `taken`: what is left taken of limits. */
export interface UnsettledAnswer extends TakenFor {
  /** In which what is fetched is read; null: its end alone is. */
  dialect: DialectName | null;
  /** As it was asked for. */
  model: string | null;
  /** In which it was asked for; null: in none. Absent from what an earlier build kept. */
  sessionId?: string | null;
  /** When it was asked for, epoch ms: what it turns out to cost was spent then. */
  startedAtMs: number;
  /** What stands in the record and, with `tokens`, in what was taken. Null: unknown. */
  costMicroUsd: number | null;
}

export type UnsettledAnswers = StoredAnswers<UnsettledAnswer>;

export const newUnsettledAnswers = (parts: AnswerStoreParts): UnsettledAnswers =>
  new StoredAnswers(parts, {
    kind: 'unsettled_answer',
    countMax: ANSWER_COUNT_MAX,
    idleMs: ANSWER_IDLE_MS,
  });
