/**
 * The one catalogue of refusals: code -> HTTP status -> public text. An error that is not here answers
 * `internal_error` with a correlation id, and its own text stays in the log.
 */
export const ERRORS = {
  invalid_json: { status: 400, text: 'The body is not valid JSON.' },
  invalid_request: { status: 400, text: 'The request is malformed.' },
  unauthorized: { status: 401, text: 'Send a valid key or token: Authorization: Bearer <key>.' },
  missing_operator_id: {
    status: 401,
    text: 'Name yourself: send the header X-Observatory-Operator-Id. It is written to the audit.',
  },
  forbidden: { status: 403, text: 'Your role does not allow this.' },
  origin_refused: { status: 403, text: 'This origin is not allowed to use an operator session.' },
  not_found: { status: 404, text: 'There is nothing here.' },
  session_not_found: { status: 404, text: 'No such session in this tenant.' },
  held_message_not_found: { status: 404, text: 'No held message with this trace_id in this session.' },
  session_terminated: { status: 409, text: 'The session is terminated; this cannot be undone.' },
  too_many_directives: { status: 409, text: 'Too many directives are waiting for this agent already.' },
  body_timeout: { status: 408, text: 'The body did not arrive in time.' },
  payload_too_large: { status: 413, text: 'The body is larger than this server takes.' },
  unsupported_media_type: {
    status: 415,
    text: 'Send application/json or application/x-ndjson, plain, gzip or deflate.',
  },
  schema_violation: { status: 422, text: 'The message does not fit the schema.' },
  invalid_fields: { status: 422, text: 'Some fields are missing or invalid.' },
  rate_limited: { status: 429, text: 'Too many requests.' },
  internal_error: { status: 500, text: 'Internal error.' },
  store_busy: {
    status: 503,
    text: 'The store cannot take more right now; nothing of this request is lost if you send it again.',
  },
  store_full: { status: 503, text: 'The disk is full; nothing of this request was stored.' },
  too_many_polls: { status: 503, text: 'Too many control polls are hanging.' },
  draining: { status: 503, text: 'The server is shutting down; try again.' },
} as const satisfies Record<string, { status: number; text: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** Every refusal but a DecisionLog's schema violation has this shape. */
export interface ErrorAnswer {
  status: 'error';
  reason: ErrorCode;
  detail: string;
  /** 422: the fields at fault, as paths such as `meta.trace_id`. */
  fields?: string[];
  correlation_id?: string;
}

/** Thrown by adapters and apps to refuse with a catalogue code; `detail` is public. */
export class ObservatoryError extends Error {
  override readonly name = 'ObservatoryError';

  constructor(
    readonly code: ErrorCode,
    readonly detail: string = ERRORS[code].text,
    readonly extra: { fields?: string[]; retryAfterSeconds?: number } = {},
  ) {
    super(detail);
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  toAnswer(): ErrorAnswer {
    const { fields } = this.extra;
    return { status: 'error', reason: this.code, detail: this.detail, ...(fields ? { fields } : {}) };
  }
}
