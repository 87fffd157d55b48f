/** Whose entry it is and where its answer comes from: first in every key and scope. */
import { canonicalHash } from './canonical-hash.js';

export interface CacheWhere {
  tenantId: string;
  /** Where it goes: equal requests to two places are two requests. */
  upstream: string;
  /** See `answerHeaders`. */
  headers?: Readonly<Record<string, string>>;
}

/** Request headers that change nothing about the answer. Any other does, as far as we know: a header names it apart. */
const IDLE_HEADERS = new Set([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'anthropic-dangerous-direct-browser-access',
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'cookie',
  'date',
  'dnt',
  'expect',
  'forwarded',
  'host',
  'idempotency-key',
  'keep-alive',
  'origin',
  'pragma',
  'priority',
  'referer',
  'te',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
  'x-goog-api-client',
  'x-tenant-id',
  // Tracing: another value with each call, so that one of them would name apart what is equal for ever.
  ...['traceparent', 'tracestate', 'baggage', 'correlation-context', 'b3', 'sentry-trace', 'uber-trace-id'],
  ...['x-ot-span-context', 'grpc-trace-bin', 'elastic-apm-traceparent', 'sw8', 'sw8-correlation', 'sw8-x'],
  ...['newrelic', 'x-newrelic-id', 'x-newrelic-transaction', 'x-dynatrace', 'x-honeycomb-trace'],
  ...['x-amzn-trace-id', 'x-cloud-trace-context', 'x-trace-id', 'x-span-id', 'x-parent-span-id'],
  ...['request-id', 'request-context', 'x-request-id', 'x-correlation-id', 'x-transaction-id'],
  ...['x-client-request-id', 'x-ms-client-request-id', 'x-ms-correlation-request-id', 'x-splunk-requestid'],
  // What stands before us: who came by which way, and when.
  ...['cf-ray', 'cf-request-id', 'cf-connecting-ip', 'cf-connecting-ipv6', 'cf-visitor'],
  ...['cf-worker', 'cf-ew-via', 'cdn-loop', 'x-amz-cf-id', 'x-azure-ref', 'x-azure-clientip'],
  ...['x-azure-socketip', 'x-azure-fdid', 'fastly-client-ip', 'fly-client-ip', 'fly-request-id'],
  ...['x-vercel-id', 'true-client-ip', 'x-real-ip', 'x-client-ip', 'x-cluster-client-ip'],
  ...['x-original-forwarded-for', 'x-request-start', 'x-queue-start', 'akamai-origin-hop'],
]);
const IDLE_PREFIXES = [
  ...['sec-', 'x-forwarded-', 'x-observatory-', 'x-stainless-'],
  ...['x-b3-', 'x-datadog-', 'x-envoy-', 'x-instana-', 'uberctx-', 'ot-tracer-', 'ot-baggage-'],
];

/** Who the vendor takes the caller for: of no consequence where the gateway puts its own key in. */
const CREDENTIAL_HEADERS = new Set(['api-key', 'authorization', 'x-api-key', 'x-goog-api-key']);

/**
 * @param headers as they came: name, value, name, value ...
 * @param withCredentials the upstream gets the caller's own
 */
export function answerHeaders(
  headers: readonly string[],
  { withCredentials = false }: { withCredentials?: boolean } = {},
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = (headers[at] as string).toLowerCase();
    if (IDLE_HEADERS.has(name) || IDLE_PREFIXES.some((prefix) => name.startsWith(prefix))) continue;
    if (!withCredentials && CREDENTIAL_HEADERS.has(name)) continue;
    const value = headers[at + 1] as string;
    kept[name] = kept[name] === undefined ? value : `${kept[name]}, ${value}`;
  }
  return kept;
}

/** The digests a key begins with. */
export const whereDigests = ({ tenantId, upstream, headers = {} }: CacheWhere): (string | null)[] => [
  canonicalHash(tenantId),
  canonicalHash(upstream),
  canonicalHash(headers),
];
