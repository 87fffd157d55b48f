import type { CallHandler, ExecutionContext } from '@nestjs/common';
import { from, lastValueFrom } from 'rxjs';
import { expect, it, vi } from 'vitest';
import { AnsweredInTime, CHANGED_WITHIN_MS } from './answered-in-time.js';

/** What is sent to a request whose handler settles so; `pass` lets the time pass. */
function answerTo(method: string, handled: Promise<unknown>) {
  const callOff = vi.fn<() => void>();
  const after = vi.fn<(delayMs: number, run: () => void) => () => void>(() => callOff);
  const context = { switchToHttp: () => ({ getRequest: () => ({ method }) }) } as ExecutionContext;
  const next: CallHandler = { handle: () => from(handled) };
  const answer = lastValueFrom(new AnsweredInTime({ after }).intercept(context, next));
  const pass = () => {
    for (const [delayMs, run] of after.mock.calls) if (delayMs === CHANGED_WITHIN_MS) run();
  };
  return { answer, after, callOff, pass };
}

const never = new Promise(() => {});

it.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
  'says of a %s that hangs that nobody knows yet',
  async (method) => {
    const { answer, pass } = answerTo(method, never);
    pass();
    await expect(answer).rejects.toMatchObject({ code: 'answer_late' });
  },
);

it('answers as the handler does where that is in time, and forgets the time', async () => {
  const done = answerTo('POST', Promise.resolve('done'));
  await expect(done.answer).resolves.toBe('done');
  expect(done.callOff).toHaveBeenCalledOnce();
  const refused = answerTo('POST', Promise.reject(new Error('refused')));
  await expect(refused.answer).rejects.toThrow('refused');
});

it('lets no late refusal go unheard of', async () => {
  let refuse = (_error: Error) => {};
  const { answer, pass } = answerTo('DELETE', new Promise((_resolve, reject) => (refuse = reject)));
  pass();
  await expect(answer).rejects.toMatchObject({ code: 'answer_late' });
  refuse(new Error('after all'));
});

it.each(['GET', 'HEAD'])('bounds no %s: a control poll waits on purpose', async (method) => {
  const { answer, after } = answerTo(method, Promise.resolve('read'));
  await expect(answer).resolves.toBe('read');
  expect(after).not.toHaveBeenCalled();
});
