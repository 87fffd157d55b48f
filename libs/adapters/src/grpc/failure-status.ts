/** One meaning of a failure on both sides: reasons of the contract <-> status codes of gRPC. */
import { status } from '@grpc/grpc-js';
import {
  EmbeddingFailure,
  type EmbeddingFailureReason,
  PromptHistoryFailure,
  SidecarFailure,
  type SidecarFailureReason,
} from '#contracts/embedding';

const STATUS_OF = {
  unavailable: status.UNAVAILABLE,
  timeout: status.DEADLINE_EXCEEDED,
  busy: status.RESOURCE_EXHAUSTED,
  invalid: status.INVALID_ARGUMENT,
  error: status.INTERNAL,
} as const satisfies Record<SidecarFailureReason, status>;

const EMBEDDING_REASONS = {
  busy: 'busy',
  expired: 'timeout',
  failed: 'error',
  unavailable: 'unavailable',
} as const satisfies Record<EmbeddingFailureReason, SidecarFailureReason>;

export const statusOfReason = (reason: SidecarFailureReason): number => STATUS_OF[reason];

/** @param code of gRPC, from a status or from a `Failure` frame */
export function reasonOfStatus(code: number): SidecarFailureReason {
  switch (code) {
    case status.INVALID_ARGUMENT:
    case status.OUT_OF_RANGE:
      return 'invalid';
    case status.RESOURCE_EXHAUSTED:
      return 'busy';
    case status.DEADLINE_EXCEEDED:
      return 'timeout';
    case status.UNAVAILABLE:
    case status.CANCELLED:
      return 'unavailable';
    default:
      return 'error';
  }
}

/**
 * What a caller is told of any error. Failures of the contracts carry public text; an error nobody foresaw says
 * "internal error", and its own text stays inside.
 */
export function toSidecarFailure(error: unknown): SidecarFailure {
  if (error instanceof SidecarFailure) return error;
  if (error instanceof EmbeddingFailure)
    return new SidecarFailure(EMBEDDING_REASONS[error.reason], error.message);
  if (error instanceof PromptHistoryFailure)
    return new SidecarFailure(error.reason === 'failed' ? 'error' : 'unavailable', error.message);
  return new SidecarFailure('error', 'internal error');
}

/** @param cause a ServiceError of gRPC, whose details may quote a peer; only its code is kept */
export function failureOfCall(cause: { code?: number | undefined }): SidecarFailure {
  const reason = reasonOfStatus(cause.code ?? status.UNKNOWN);
  return new SidecarFailure(reason, `the sidecar's call ended with ${status[cause.code ?? status.UNKNOWN]}`);
}
