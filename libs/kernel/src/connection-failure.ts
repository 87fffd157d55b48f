/** Why a connection failed, in words made here: texts of libraries may quote URLs, and those may hold tokens. */

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  ENOTFOUND: 'the host name does not exist',
  EAI_AGAIN: 'the host name could not be resolved just now',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'there was no answer in time',
  UND_ERR_BODY_TIMEOUT: 'the answer did not end in time',
  UND_ERR_SOCKET: 'the connection was closed before the answer ended',
  // `https:` to a server of plain HTTP: which of them depends on Node's version.
  EPROTO: 'it does not speak TLS as it should',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS as it should',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS as it should',
  CERT_HAS_EXPIRED: 'its TLS certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its TLS certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its TLS certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its TLS certificate cannot be verified',
  UNABLE_TO_GET_ISSUER_CERT: 'its TLS certificate cannot be verified',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its TLS certificate cannot be verified',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its TLS certificate is for another name',
};

export interface ConnectionFailure {
  /** Null where the error has none that is safe to show. */
  code: string | null;
  /** Null for a code that has no words. */
  words: string | null;
}

/** Of whatever was thrown. Never throws; never quotes the error's own text. */
export function connectionFailure(error: unknown): ConnectionFailure {
  const code = codeOf(error);
  return { code, words: code === null ? null : (WORDS[code] ?? null) };
}

/** Several addresses tried: the first one's code speaks for all. */
function codeOf(error: unknown): string | null {
  const { code, cause, errors } = (error ?? {}) as { code?: unknown; cause?: unknown; errors?: unknown };
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,60}$/.test(code)) return code;
  if (Array.isArray(errors) && errors.length > 0) return codeOf(errors[0]);
  return cause === undefined || cause === null ? null : codeOf(cause);
}
