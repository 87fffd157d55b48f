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
    text: 'Name yourself: send the header X-Observatory-Operator-Id, a name of 1 to 100 characters, not "system" or "kill_switch". It is written to the audit.',
  },
  forbidden: { status: 403, text: 'Your role does not allow this.' },
  origin_refused: {
    status: 403,
    text: 'This origin is not allowed to use an operator session. Behind a reverse proxy set OBSERVATORY_TRUST_PROXY=1; another origin is added by OBSERVATORY_ALLOWED_ORIGINS.',
  },
  navigation_refused: {
    status: 403,
    text: 'The proxy answers programs. A page of the same origin may call it with fetch; none may open or embed its answers.',
  },
  not_found: { status: 404, text: 'There is nothing here; /docs lists every route.' },
  method_not_allowed: { status: 405, text: 'This path takes another method.' },
  session_not_found: { status: 404, text: 'No such session in this tenant.' },
  held_message_not_found: { status: 404, text: 'No held message with this trace_id in this session.' },
  agent_not_found: { status: 404, text: 'The proxy has not seen this agent in this tenant.' },
  incident_not_found: { status: 404, text: 'This gateway has no such incident in this tenant.' },
  call_not_found: { status: 404, text: 'No such call in this tenant.' },
  upstream_not_found: { status: 404, text: 'No upstream has this name; configure it in the settings.' },
  upstream_changed: {
    status: 503,
    text: 'The upstream was changed in the settings while this call waited; try again in a moment.',
  },
  alert_rule_not_found: { status: 404, text: 'No such alert rule in this tenant.' },
  alert_not_firing: { status: 409, text: 'This rule does not fire for this agent, or no more.' },
  alert_acknowledged: { status: 409, text: 'Somebody else has this alert in hand already.' },
  alert_channel_not_found: { status: 404, text: 'No such alert channel in this tenant.' },
  delivery_not_found: { status: 404, text: 'No such delivery in this tenant.' },
  cache_match_not_found: { status: 404, text: 'No such semantic match; only the latest are kept.' },
  cache_unavailable: { status: 503, text: 'The cache does not answer; nothing was changed.' },
  cache_miss: { status: 504, text: 'Not in the cache, and the request asked for nothing else.' },
  agent_inactive: { status: 403, text: 'This agent is deactivated; an operator can reactivate it.' },
  agent_killed: {
    status: 403,
    text: 'The kill switch stopped this agent: it was repeating itself. Do not retry.',
  },
  agent_stopped_again: {
    status: 409,
    text: 'This agent has been stopped again meanwhile, by the kill switch or by an operator; look at why.',
  },
  outside_allowed_hours: { status: 403, text: 'This agent may not run at this hour.' },
  model_not_allowed: { status: 403, text: 'The policy of this agent does not allow this model.' },
  cost_unknown: {
    status: 403,
    text: 'Nobody can tell beforehand what this call costs, and the policy of this agent refuses such calls.',
  },
  session_capped: { status: 403, text: "This session has used up what its agent's policy allows." },
  budget_exceeded: { status: 429, text: 'The budget of this agent is used up.' },
  hold_expired: { status: 409, text: 'This session is paused; try again later.' },
  call_terminated: {
    status: 403,
    text: 'This session has ended. Do not retry in it; another session may begin.',
  },
  version_conflict: { status: 409, text: 'Somebody else changed this meanwhile; load it again.' },
  upstream_unreachable: { status: 502, text: 'The upstream could not be reached.' },
  upstream_timeout: { status: 504, text: 'The upstream did not answer in time.' },
  too_many_bytes: {
    status: 503,
    text: 'Too many bytes are on their way through the proxy; try again in a moment.',
  },
  too_many_calls: {
    status: 503,
    text: 'Too many calls to this upstream are running; try again in a moment.',
  },
  too_many_held_calls: { status: 503, text: 'Too many calls are held already.' },
  session_terminated: { status: 409, text: 'The session is terminated; this cannot be undone.' },
  too_many_directives: { status: 409, text: 'Too many directives are waiting for this agent already.' },
  request_timeout: { status: 408, text: 'The request did not arrive in time.' },
  body_timeout: { status: 408, text: 'The body did not arrive in time.' },
  payload_too_large: { status: 413, text: 'The body is larger than this server takes.' },
  unsupported_media_type: {
    status: 415,
    text: 'Send the body as application/json; DecisionLogs also as application/x-ndjson, plain, gzip, deflate or br.',
  },
  websocket_refused: {
    status: 426,
    text: 'The proxy carries no WebSockets, since no guard could read them. Use the HTTP API.',
  },
  headers_too_large: { status: 431, text: "The request's headers are larger than this server takes." },
  schema_violation: { status: 422, text: 'The message does not fit the schema.' },
  invalid_fields: { status: 422, text: 'Some fields are missing or invalid.' },
  rate_limited: { status: 429, text: 'Too many requests.' },
  internal_error: { status: 500, text: 'Internal error.' },
  store_busy: {
    status: 503,
    text: 'The store cannot take more right now; nothing of this request is lost if you send it again.',
  },
  store_damaged: {
    status: 500,
    text: "A part of the store that this needs is damaged; the gateway's log says what to do. Nothing of this request was stored.",
  },
  store_full: {
    status: 503,
    text: 'The disk takes no writes: it is full or it fails. Nothing of this request was stored.',
  },
  answer_late: {
    status: 504,
    text: 'This is not done yet, most likely because the disk does not answer. It may be done all the same: look before you send it again.',
  },
  too_many_polls: { status: 503, text: 'Too many control polls are hanging.' },
  too_many_sockets: {
    status: 429,
    text: 'This key or token has as many sockets open as it may; close one, or try again later.',
  },
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
    readonly extra: { fields?: string[]; retryAfterSeconds?: number; allow?: readonly string[] } = {},
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

const UNKNOWN_NAMES_MAX = 10;
const UNKNOWN_NAME_CHARS_MAX = 80;

/** Names that nothing here has, as a refusal repeats them: the first of them, and of each its beginning. */
export const repeatedNames = (names: readonly string[]): string[] =>
  names.slice(0, UNKNOWN_NAMES_MAX).map((name) => name.slice(0, UNKNOWN_NAME_CHARS_MAX));
