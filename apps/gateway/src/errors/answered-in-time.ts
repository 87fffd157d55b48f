/**
 * Whoever asks for a change hears within a time what became of it, or that nobody knows yet: a disk may hang for minutes without
 * refusing anything. Reads are not bounded: to send one again costs nobody anything, and a control poll waits on purpose.
 */
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { from, lastValueFrom } from 'rxjs';
import { ObservatoryError } from '#contracts';
import { inTime, systemTimer, type Timer } from '#kernel';

/** More than a channel's test takes, and less than the idle limits of common load balancers. */
export const CHANGED_WITHIN_MS = 30_000;

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

export class AnsweredInTime implements NestInterceptor {
  constructor(private readonly timer: Timer = systemTimer) {}

  /** Of a change that takes longer the answer is `answer_late`; it goes on, and nobody hears of how it ends. */
  intercept(context: ExecutionContext, next: CallHandler): ReturnType<CallHandler['handle']> {
    const { method } = context.switchToHttp().getRequest<FastifyRequest>();
    if (READS.has(method)) return next.handle();
    const late = () => new ObservatoryError('answer_late');
    return from(inTime(lastValueFrom(next.handle()), CHANGED_WITHIN_MS, late, this.timer));
  }
}
