/**
 * Any thrown value -> the answer a stranger may see. What is not in the catalogue answers `internal_error` with a
 * correlation id; its own text is for the log alone. Never throws.
 */
import { z } from 'zod';
import { type ErrorAnswer, type ErrorCode, LIMITS, ObservatoryError } from '#contracts';
import type { IdSource } from '#kernel';
import { describeIssues } from './field-errors.js';

export interface Refusal {
  status: number;
  headers: Record<string, string>;
  answer: ErrorAnswer;
  /** Ours, not the caller's: to be logged with its own text. */
  isInternal: boolean;
}

/** HTTP errors of Fastify and Nest, by status; any other 4xx is `invalid_request`. */
const CODE_BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'body_timeout',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  422: 'invalid_fields',
  429: 'rate_limited',
};

/** What Fastify's router refuses. */
const PATH_UNREADABLE =
  'The path cannot be read: each % in it begins a byte of UTF-8, as %20 does; write % itself as %25.';
const PATH_TOO_LONG = `A part of the path has more than ${LIMITS.idCharsMax} characters, which no id has.`;

/** Sent with every 429 and 503 that names no other time. */
const RETRY_AFTER_SECONDS = 1;

export function toRefusal(error: unknown, ids: IdSource): Refusal {
  const known = toCatalogue(error);
  if (known === null || isOurs(known)) {
    const correlation_id = ids.next();
    const told = known ?? new ObservatoryError('internal_error');
    const answer = { ...told.toAnswer(), correlation_id };
    return { status: told.status, headers: {}, answer, isInternal: true };
  }
  const headers: Record<string, string> = {};
  if (known.status === 401) headers['www-authenticate'] = 'Bearer realm="observatory"';
  if (known.extra.allow !== undefined) headers.allow = known.extra.allow.join(', ');
  const isTemporary = known.status === 429 || known.status === 503;
  const retryAfterSeconds = known.extra.retryAfterSeconds ?? (isTemporary ? RETRY_AFTER_SECONDS : undefined);
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(Math.ceil(retryAfterSeconds));
  return { status: known.status, headers, answer: known.toAnswer(), isInternal: false };
}

/** Nobody can do anything about it but who runs the gateway: its own text is for the log. */
export const isOurs = (error: ObservatoryError): boolean => error.status === 500;

/** By which what comes of an error is counted, and audited. */
export const codeToldOf = (error: unknown): ErrorCode =>
  error instanceof ObservatoryError ? error.code : 'internal_error';

/** Null: not the caller's doing. */
function toCatalogue(error: unknown): ObservatoryError | null {
  if (error instanceof ObservatoryError) return error.code === 'internal_error' ? null : error;
  if (error instanceof z.ZodError) {
    const { fields, detail } = describeIssues(error);
    return new ObservatoryError('invalid_fields', detail, { fields });
  }
  const status = httpStatus(error);
  if (status === null || status < 400 || status >= 500) return null;
  if (status === 400 && isJsonFault(error)) return new ObservatoryError('invalid_json');
  if (codeOf(error) === 'FST_ERR_BAD_URL') return new ObservatoryError('invalid_request', PATH_UNREADABLE);
  if (status === 414) return new ObservatoryError('invalid_request', PATH_TOO_LONG);
  return new ObservatoryError(CODE_BY_STATUS[status] ?? 'invalid_request');
}

/** Of a Nest HttpException or an error of Fastify or its plugins. */
function httpStatus(error: unknown): number | null {
  if (!(error instanceof Error)) return null;
  const { statusCode, status, getStatus } = error as {
    statusCode?: unknown;
    status?: unknown;
    getStatus?: unknown;
  };
  if (typeof getStatus === 'function') return Number(getStatus.call(error));
  if (typeof statusCode === 'number') return statusCode;
  return typeof status === 'number' ? status : null;
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

/** True if the error, or what caused it, is a body that does not parse. */
function isJsonFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { cause } = error;
  const code = codeOf(error);
  if (error instanceof SyntaxError) return true;
  if (code === 'FST_ERR_CTP_INVALID_JSON_BODY' || code === 'FST_ERR_CTP_EMPTY_JSON_BODY') return true;
  return cause !== undefined && cause !== error && isJsonFault(cause);
}
