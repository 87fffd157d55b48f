/** The login itself. Not through `api`: a throttled login says in a header how long to wait, which `api` drops. */
import type { Me } from '#contracts';
import { type ApiError, toApiError } from '../../api/client';
import { gatewayNowMs } from '../../api/gateway-clock';

const TIMEOUT_MS = 15_000;
const NAME_KEY = 'observatory.operator_name';

/** Why a login failed, in words for the person at the form. */
export interface SignInFailure {
  /** Which field to mend; null when it is neither. */
  field: 'token' | 'operator_id' | null;
  message: string;
  /** Epoch milliseconds before which another try is refused; null = now is fine. */
  retryAtMs: number | null;
}

const NOT_KEPT: SignInFailure = {
  field: null,
  message:
    'This browser did not keep the login. Allow cookies for this address; where Observatory has an https address, open that one.',
  retryAtMs: null,
};

/** Not through `api`, which leads here whoever is not signed in. */
const askMe = (): Promise<Response> =>
  fetch('/v1/auth/me', { credentials: 'same-origin', signal: AbortSignal.timeout(TIMEOUT_MS) });

/** Whether the cookie that the login came with is sent from now on. */
const isKept = async (): Promise<boolean> => (await askMe()).status !== 401;

/** Never rejects. */
export const isSignedIn = (): Promise<boolean> =>
  askMe().then(
    ({ ok }) => ok,
    () => false,
  );

/** Never rejects. */
export async function signIn(token: string, operatorId: string): Promise<Me | SignInFailure> {
  try {
    const response = await fetch('/v1/auth/login', {
      method: 'POST',
      credentials: 'same-origin',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify({ token: token.trim(), operator_id: operatorId.trim() }),
    });
    const answer: unknown = await response.json().catch(() => null);
    if (response.ok && answer !== null) return (await isKept()) ? (answer as Me) : NOT_KEPT;
    return explain(
      toApiError(response.status, answer),
      Number(response.headers.get('retry-after')),
      gatewayNowMs(),
    );
  } catch {
    return {
      field: null,
      message: 'Observatory cannot be reached. Is the gateway running?',
      retryAtMs: null,
    };
  }
}

/** @param retryAfterSeconds 0 or NaN when the answer has none */
export function explain(error: ApiError, retryAfterSeconds: number, nowMs: number): SignInFailure {
  if (error.status === 429) {
    const waitMs =
      (Number.isFinite(retryAfterSeconds) && retryAfterSeconds > 0 ? retryAfterSeconds : 1) * 1_000;
    return { field: null, message: 'Too many failed tries.', retryAtMs: nowMs + waitMs };
  }
  if (error.status === 401) {
    return {
      field: 'token',
      message: 'This token is not valid. It may have been revoked, or cut off when it was copied.',
      retryAtMs: null,
    };
  }
  const field = (['token', 'operator_id'] as const).find((name) => error.fields.includes(name)) ?? null;
  return { field, message: error.message, retryAtMs: null };
}

/** The token of the ready link, `/login#token=...`; null without one. */
export function tokenOfFragment(hash: string): string | null {
  const token = new URLSearchParams(hash.replace(/^#/, '')).get('token')?.trim();
  return token || null;
}

export function rememberedName(): string {
  try {
    return localStorage.getItem(NAME_KEY) ?? '';
  } catch {
    return '';
  }
}

export function rememberName(name: string): void {
  try {
    localStorage.setItem(NAME_KEY, name.trim());
  } catch {
    // Storage is switched off: the name is asked for again next time.
  }
}
