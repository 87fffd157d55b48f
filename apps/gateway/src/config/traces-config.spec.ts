import { describe, expect, test } from 'vitest';
import { parseTracesConfig } from './traces-config.js';

const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector:4318';

describe('where spans go', () => {
  test('nowhere unless somebody says so', () => {
    expect(parseTracesConfig({})).toEqual({ url: null, protocol: 'http/protobuf', startedShare: 0 });
    expect(parseTracesConfig({ OTEL_TRACES_SAMPLER: 'parentbased_always_on' }).startedShare).toBe(0);
    // Said to others on the same machine.
    const others = {
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_TRACES_EXPORTER: 'zipkin',
      OTEL_TRACES_SAMPLER: 'x',
    };
    expect(parseTracesConfig(others).url).toBeNull();
  });

  test.each([
    ['http://collector:4318', 'http://collector:4318/v1/traces'],
    ['http://collector:4318/', 'http://collector:4318/v1/traces'],
    ['https://vendor.example/otlp', 'https://vendor.example/otlp/v1/traces'],
  ])('%s is a base', (base, url) => {
    expect(parseTracesConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: base })).toEqual({
      url,
      protocol: 'http/protobuf',
      startedShare: 1,
    });
  });

  test.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://localhost:4318'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http://localhost:4318/v1/traces'],
  ])('who gives a bad %s is shown one that works', (name, example) => {
    expect(() => parseTracesConfig({ [name]: 'collector:4318' })).toThrow(`such as ${example}.`);
  });

  test('what is said of traces alone goes first', () => {
    const config = parseTracesConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:9/in',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    });
    expect(config).toEqual({ url: 'http://traces:9/in', protocol: 'http/json', startedShare: 1 });
  });

  test.each([{ OTEL_SDK_DISABLED: 'true' }, { OTEL_TRACES_EXPORTER: 'none' }])('%j switches off', (off) => {
    expect(parseTracesConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, ...off })).toMatchObject({
      url: null,
      startedShare: 0,
    });
  });

  test.each([
    ['parentbased_always_on', '0.1', 1],
    ['parentbased_traceidratio', '0.1', 0.1],
    ['parentbased_traceidratio', undefined, 1],
    ['parentbased_always_off', undefined, 0],
  ])('%s with %s begins a share of %s', (OTEL_TRACES_SAMPLER, argument, share) => {
    const variables = { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER };
    expect(
      parseTracesConfig(
        argument === undefined ? variables : { ...variables, OTEL_TRACES_SAMPLER_ARG: argument },
      ).startedShare,
    ).toBe(share);
  });

  test.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http://user:secret@collector'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_TRACES_EXPORTER', 'zipkin'],
    ['OTEL_TRACES_SAMPLER', 'always_on'],
    ['OTEL_TRACES_SAMPLER_ARG', '10%'],
  ])('%s=%s stops the start with its name', (name, value) => {
    const parse = () => parseTracesConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, [name]: value });
    expect(parse).toThrow(name);
    expect(parse).not.toThrow(/secret@/);
  });
});
