/**
 * The gateway's REST API, same origin, authenticated by the login cookie.
 *
 *     const { items } = await api.get<Page<SessionView>>('/v1/sessions', { q: 'loop', limit: 50 });
 *     await api.post<CommandAnswer>(`/v1/sessions/${encodeURIComponent(id)}/pause`, { reason });
 *
 * Every failure is an ApiError whose `message` can be shown to people as it stands; `reason` is the code of contracts'
 * ERRORS, or `network` / `timeout` when no answer came. A 401 of its own also tells `onApiUnauthorized` (the router shows /login).
 * What several features ask or change is beside it: agents.ts, commands.ts, config.ts; the operator's own permissions are in me.ts.
 */
import type { ErrorAnswer, ErrorCode } from '#contracts';
import { gatewayClock } from './gateway-clock';

const REQUEST_TIMEOUT_MS = 15_000;

export type ApiErrorReason = ErrorCode | 'network' | 'timeout' | 'unexpected_answer';

export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly reason: ApiErrorReason,
    message: string,
    /** HTTP status; 0 when no answer came. */
    readonly status: number,
    readonly fields: readonly string[] = [],
  ) {
    super(message);
  }
}

type Query = Record<string, string | number | boolean | null | undefined>;

let unauthorizedListener: (wasAsked: boolean) => void = () => {};

/** Called after any 401 but that of a login, with whether something was to be done; set once, by the router. */
export function onApiUnauthorized(listener: (wasAsked: boolean) => void): void {
  unauthorizedListener = listener;
}

let doneListener: () => void = () => {};

/** Called after anything but a question was answered with success: the gateway is there, and has changed. Set once. */
export function onApiDone(listener: () => void): void {
  doneListener = listener;
}

export const api = {
  /** Members of `query` that are undefined, null or "" are left out. Aborted, it rejects with the signal's reason. */
  get: <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> =>
    request<T>('GET', withQuery(path, query), undefined, signal),
  post: <T>(path: string, body: unknown = {}): Promise<T> => request<T>('POST', path, body),
  patch: <T>(path: string, body: unknown): Promise<T> => request<T>('PATCH', path, body),
  put: <T>(path: string, body: unknown): Promise<T> => request<T>('PUT', path, body),
  delete: <T>(path: string): Promise<T> => request<T>('DELETE', path),
};

function withQuery(path: string, query: Query = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') params.set(name, String(value));
  }
  const text = params.toString();
  return text ? `${path}?${text}` : path;
}

async function request<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const { ok, status, answer } = await send(method, path, body, signal);
  signal?.throwIfAborted();
  if (ok && (answer !== null || status === 204)) {
    if (method !== 'GET') doneListener();
    return answer as T;
  }
  const error = toApiError(status, answer);
  // Of a login in front of the gateway that has run out, the one here knows nothing.
  const isOurs = error.reason !== UNEXPECTED;
  if (status === 401 && isOurs && path !== '/v1/auth/login') unauthorizedListener(method !== 'GET');
  throw error;
}

interface Answer {
  ok: boolean;
  status: number;
  /** Null: it has no JSON. */
  answer: unknown;
}

async function send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Answer> {
  const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  const sentMs = Date.now();
  try {
    const response = await fetch(path, {
      method,
      credentials: 'same-origin',
      signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    gatewayClock.learn(response.headers.get('date'), sentMs, Date.now());
    const { ok, status } = response;
    // Broken off in the middle, it is no answer.
    return { ok, status, answer: parsed(await response.text()) };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof DOMException && error.name === 'TimeoutError') {
      throw new ApiError(
        'timeout',
        'The gateway did not answer within 15 s. It may have acted all the same.',
        0,
      );
    }
    // Of then: what was not done is still said once the gateway is back.
    throw new ApiError('network', 'The gateway could not be reached.', 0);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const UNEXPECTED = 'unexpected_answer';

function unexpectedText(status: number): string {
  if (status === 401 || status === 403)
    return `Something in front of the gateway refused this with status ${status}. Reload the page to log in there.`;
  return status < 300
    ? `Something other than the gateway answered, with status ${status}.`
    : `The gateway answered with status ${status}.`;
}

/** Reads the catalogue's shape; anything else (a proxy's page) gets a plain sentence. @param status a success, where it has no JSON */
export function toApiError(status: number, answer: unknown): ApiError {
  const error = answer as Partial<ErrorAnswer> | null;
  if (typeof error?.reason === 'string' && typeof error.detail === 'string') {
    return new ApiError(error.reason, error.detail, status, error.fields);
  }
  return new ApiError(UNEXPECTED, unexpectedText(status), status);
}
