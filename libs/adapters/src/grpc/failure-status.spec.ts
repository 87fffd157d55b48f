import { status } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import {
  EmbeddingFailure,
  PromptHistoryFailure,
  SIDECAR_FAILURES,
  SidecarFailure,
} from '#contracts/embedding';
import { failureOfCall, reasonOfStatus, statusOfReason, toSidecarFailure } from './failure-status.js';

it.each(SIDECAR_FAILURES)('%s means the same on both sides', (reason) => {
  expect(reasonOfStatus(statusOfReason(reason))).toBe(reason);
});

it.each([
  [status.OUT_OF_RANGE, 'invalid'],
  [status.CANCELLED, 'unavailable'],
  [status.UNIMPLEMENTED, 'error'],
] as const)('status %i of gRPC itself means %s', (code, reason) => {
  expect(reasonOfStatus(code)).toBe(reason);
});

it.each([
  [new EmbeddingFailure('busy', 'x'), status.RESOURCE_EXHAUSTED],
  [new EmbeddingFailure('expired', 'x'), status.DEADLINE_EXCEEDED],
  [new EmbeddingFailure('failed', 'x'), status.INTERNAL],
  [new EmbeddingFailure('unavailable', 'x'), status.UNAVAILABLE],
  [new PromptHistoryFailure('unavailable', 'x'), status.UNAVAILABLE],
  [new PromptHistoryFailure('no_query_engine', 'x'), status.UNAVAILABLE],
  [new PromptHistoryFailure('failed', 'x'), status.INTERNAL],
  [new SidecarFailure('invalid', 'x'), status.INVALID_ARGUMENT],
])('%o leaves as status %i', (error, code) => {
  expect(statusOfReason(toSidecarFailure(error).reason)).toBe(code);
});

it('tells nobody the text of an error that nobody foresaw', () => {
  expect(toSidecarFailure(new Error('the prompt was ...'))).toMatchObject({
    reason: 'error',
    message: 'internal error',
  });
});

it('keeps of a broken call its code alone', () => {
  const cause = { code: status.UNAVAILABLE, details: 'a prompt', message: 'a prompt' };
  expect(failureOfCall(cause)).toMatchObject({
    reason: 'unavailable',
    message: "the sidecar's call ended with UNAVAILABLE",
  });
  expect(failureOfCall({}).reason).toBe('error');
});
