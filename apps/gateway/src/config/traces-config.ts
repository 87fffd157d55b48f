/**
 * Where the spans of proxied calls go. The variables are OpenTelemetry's own, and mean what they mean there; what is not
 * read here (headers, compression, timeout, certificates, resource attributes) the exporter reads itself.
 *
 * @see https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */
import type { OtlpProtocol } from '#adapters/otel';
import { readBaseUrl, readChoice, readFlag, readShare, type Variables } from '#kernel';

export interface TracesConfig {
  /** Of the collector, with its path. Null: no spans are made. */
  url: string | null;
  protocol: OtlpProtocol;
  /** Of the calls that bring no trace along: the share that begins one. A caller's trace is recorded if the caller says so. */
  startedShare: number;
}

export const TRACES_VARIABLES = {
  isDisabled: 'OTEL_SDK_DISABLED',
  exporter: 'OTEL_TRACES_EXPORTER',
  endpoint: 'OTEL_EXPORTER_OTLP_ENDPOINT',
  tracesEndpoint: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  protocol: 'OTEL_EXPORTER_OTLP_PROTOCOL',
  tracesProtocol: 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
  sampler: 'OTEL_TRACES_SAMPLER',
  samplerArgument: 'OTEL_TRACES_SAMPLER_ARG',
} as const;
type Variable = (typeof TRACES_VARIABLES)[keyof typeof TRACES_VARIABLES];

const TRACES_PATH = '/v1/traces';
/** A collector beside the gateway, at its usual port. */
const EXAMPLE = 'http://localhost:4318';
const PROTOCOLS = ['http/protobuf', 'http/json'] as const satisfies readonly OtlpProtocol[];
const EXPORTERS = ['otlp', 'none'] as const;
const SAMPLERS = ['parentbased_always_on', 'parentbased_traceidratio', 'parentbased_always_off'] as const;

const OFF: TracesConfig = { url: null, protocol: PROTOCOLS[0], startedShare: 0 };

/**
 * Without a collector nothing else is looked at: a machine's variables may be meant for others.
 *
 * @throws ConfigError for the first variable that cannot be used
 */
export function parseTracesConfig(variables: Variables<Variable>): TracesConfig {
  const names = TRACES_VARIABLES;
  if (readFlag(variables, names.isDisabled, false)) return OFF;
  const url = collectorUrl(variables);
  if (url === null || readChoice(variables, names.exporter, EXPORTERS) === 'none') return OFF;
  const protocol =
    readChoice(variables, names.tracesProtocol, PROTOCOLS) ??
    readChoice(variables, names.protocol, PROTOCOLS) ??
    PROTOCOLS[0];
  return { url, protocol, startedShare: startedShare(variables) };
}

/** One for traces is taken as it is; the other is a base. */
function collectorUrl(variables: Variables<Variable>): string | null {
  const forTraces = readBaseUrl(variables, TRACES_VARIABLES.tracesEndpoint, EXAMPLE + TRACES_PATH);
  const base = readBaseUrl(variables, TRACES_VARIABLES.endpoint, EXAMPLE);
  return forTraces ?? (base === null ? null : `${base.replace(/\/+$/, '')}${TRACES_PATH}`);
}

function startedShare(variables: Variables<Variable>): number {
  const { sampler, samplerArgument } = TRACES_VARIABLES;
  const share = readShare(variables, samplerArgument, 'a share from 0 to 1 such as 0.1') ?? 1;
  switch (readChoice(variables, sampler, SAMPLERS)) {
    case 'parentbased_traceidratio':
      return share;
    case 'parentbased_always_off':
      return 0;
    default:
      return 1;
  }
}
