import { describe, expect, it } from 'vitest';
import { localUrl } from './config.js';
import { readStartSettings } from './config.module.js';

const read = (source: Record<string, string>, args: string[] = [], memoryBytes = Number.POSITIVE_INFINITY) =>
  readStartSettings(source, args, memoryBytes).config;

describe('the configuration', () => {
  it('needs nothing: it listens on loopback, port 4000, with its data beside it', () => {
    expect(read({})).toMatchObject({
      port: 4000,
      host: '127.0.0.1',
      isLoopback: true,
      dataDir: './data',
      logLevel: null,
      allowedOrigins: [],
      trustProxy: false,
      isBehindProxy: false,
      drainTimeoutMs: 10_000,
      proxyInflightBytesMax: 512 * 1024 * 1024,
      upstreamCallsMax: 2_048,
      liveSubscriberBytesMax: 8 * 1024 * 1024,
      isOperatorTokenReset: false,
      isLoopDetectionEnabled: true,
      embeddingSidecarSocket: null,
      embeddingSidecarTimeoutMs: 50,
      loopWhenSimilarityAbove: null,
      loopInterventionMessage: null,
    });
  });

  it.each([
    // Not known.
    [0, 512],
    [4096, 512],
    [1024, 256],
    // Twice what one body may take.
    [256, 128],
  ])('lets bodies of calls take a quarter of %i MiB of memory at most: %i', (memoryMib, inflightMib) => {
    const mebibyte = 1024 ** 2;
    const { proxyInflightBytesMax } = read({}, [], memoryMib * mebibyte);
    expect(proxyInflightBytesMax).toBe(inflightMib * mebibyte);
    const chosen = String(600 * mebibyte);
    expect(read({ PROXY_INFLIGHT_BYTES_MAX: chosen }, [], memoryMib * mebibyte).proxyInflightBytesMax).toBe(
      Number(chosen),
    );
  });

  it('takes an empty variable for one that is not set', () => {
    expect(read({ PORT: ' ', HOST: '' })).toMatchObject({ port: 4000, host: '127.0.0.1' });
  });

  it.each([
    ['PORT', '99999'],
    ['PORT', '4000x'],
    ['HOST', 'http://here'],
    ['LOG_LEVEL', 'loud'],
    ['OBSERVATORY_TRUST_PROXY', 'perhaps'],
    ['OBSERVATORY_PUBLIC_URL', 'https://ops.example.org/observatory'],
    ['OBSERVATORY_ALLOWED_ORIGINS', 'https://a.example, *'],
    ['BODY_BYTES_MAX', '10MB'],
    ['BODY_TIMEOUT_MS', '-1'],
    ['INGEST_LOGS_PER_SECOND_MAX', 'many'],
    ['ENTROPY_SESSIONS_MAX', '0'],
    ['ENTROPY_SESSION_IDLE_MS', '1.5'],
    ['LIVE_SUBSCRIBER_BYTES_MAX', '12'],
    ['SOCKETS_PER_CREDENTIAL_MAX', '0'],
    ['DRAIN_TIMEOUT_MS', 'soon'],
    ['PROXY_INFLIGHT_BYTES_MAX', '100000000'],
    ['UPSTREAM_CALLS_MAX', '1'],
    ['LOOP_DETECTION_ENABLED', 'perhaps'],
    ['LOOP_EMBEDDING_SIDECAR_TIMEOUT', '0'],
    ['LOOP_EMBEDDING_SIDECAR_TIMEOUT', '1h'],
    ['LOOP_EMBEDDING_SIDECAR_TIMEOUT', '50 msec'],
    ['LOOP_SIMILARITY_THRESHOLD', '1.01'],
    ['LOOP_SIMILARITY_THRESHOLD', '95%'],
    ['LOOP_SIMILARITY_THRESHOLD', '-0.5'],
  ])('refuses %s=%s, naming the variable, the value and the remedy', (variable, value) => {
    expect(() => read({ [variable]: value })).toThrow(
      expect.objectContaining({
        name: 'ConfigError',
        variable,
        message: expect.stringContaining(`${variable}=${JSON.stringify(value)} cannot be used: `),
      }),
    );
  });

  it('takes the settings of semantic loops as people write them', () => {
    expect(
      read({
        LOOP_DETECTION_ENABLED: 'false',
        LOOP_EMBEDDING_SIDECAR_UDS: '/run/embedding.sock',
        LOOP_EMBEDDING_SIDECAR_TIMEOUT: '80ms',
        LOOP_SIMILARITY_THRESHOLD: '.9',
        LOOP_INTERVENTION_MESSAGE: 'Try something else.',
      }),
    ).toMatchObject({
      isLoopDetectionEnabled: false,
      embeddingSidecarSocket: '/run/embedding.sock',
      embeddingSidecarTimeoutMs: 80,
      loopWhenSimilarityAbove: 0.9,
      loopInterventionMessage: 'Try something else.',
    });
    expect(read({ LOOP_EMBEDDING_SIDECAR_TIMEOUT: '30' }).embeddingSidecarTimeoutMs).toBe(30);
    expect(read({ LOOP_SIMILARITY_THRESHOLD: '1' }).loopWhenSimilarityAbove).toBe(1);
  });

  it('refuses an intervention that is no hint but a book, and does not print it', () => {
    expect(() => read({ LOOP_INTERVENTION_MESSAGE: 'word '.repeat(1_000) })).toThrow(/at most 4000/);
  });

  it('hands the sidecar its own settings and none of the secrets', () => {
    const { sidecar } = readStartSettings({
      PATH: '/bin',
      LOOP_HISTORY_SIZE: '7',
      LOOP_EMBEDDING_REDIS_URL: 'redis://its-own',
      REDIS_URL: 'redis://:pass@here',
      OBSERVATORY_OPERATOR_TOKEN: 'an-operator-token-of-this-test',
      OBSERVATORY_UPSTREAM_OPENAI_KEY: 'sk-1',
      OPENAI_API_KEY: 'sk-2',
    }).environment;
    expect(sidecar).toEqual({ PATH: '/bin', LOOP_HISTORY_SIZE: '7', REDIS_URL: 'redis://its-own' });
  });

  it('refuses what the sidecar that it starts would refuse, and leaves one that is not its own alone', () => {
    const misset = { LOOP_EMBEDDER: 'word2vec' };
    expect(() => read(misset)).toThrow(/^LOOP_EMBEDDER="word2vec" cannot be used/);
    expect(() => read({ ...misset, LOOP_DETECTION_ENABLED: '0' })).toThrow(/^LOOP_EMBEDDER/);
    expect(() => read({ LOOP_EMBEDDING_REDIS_URL: 'here' })).toThrow(/^LOOP_EMBEDDING_REDIS_URL cannot/);
    read({ ...misset, LOOP_DETECTION_ENABLED: '0', LLM_CACHE_BACKEND: 'off' });
    read({ ...misset, LOOP_EMBEDDING_SIDECAR_UDS: '/run/embedding.sock' });
  });

  it.each([
    [{}, false],
    [{ OBSERVATORY_PUBLIC_URL: 'http://localhost:4000' }, false],
    [{ OBSERVATORY_PUBLIC_URL: 'https://ops.example.org' }, true],
    [{ OBSERVATORY_TRUST_PROXY: '1' }, true],
  ])('knows of a reverse proxy by %o', (variables, isBehindProxy) => {
    expect(read(variables).isBehindProxy).toBe(isBehindProxy);
  });

  it('counts the public URL among the allowed origins', () => {
    const config = read({
      OBSERVATORY_PUBLIC_URL: 'https://ops.example.org/',
      OBSERVATORY_ALLOWED_ORIGINS: 'http://localhost:5173',
    });
    expect(config.publicUrl).toBe('https://ops.example.org');
    expect(config.allowedOrigins).toEqual(['http://localhost:5173', 'https://ops.example.org']);
  });

  it('resets the operator token by variable or by argument', () => {
    expect(read({ OBSERVATORY_RESET_OPERATOR_TOKEN: '1' }).isOperatorTokenReset).toBe(true);
    expect(read({}, ['--reset-operator-token']).isOperatorTokenReset).toBe(true);
  });

  it.each(['--help', '--port', '--reset-operator-tokens', '4001'])(
    'refuses the argument %s, and says how to set what',
    (arg) => {
      expect(() => read({}, ['--reset-operator-token', arg])).toThrow(
        expect.objectContaining({
          name: 'ConfigError',
          message: expect.stringMatching(
            `^${arg} cannot be used: .*PORT=4001 npm start.*--reset-operator-token.$`,
          ),
        }),
      );
    },
  );

  it('repeats nothing of what an unknown argument says', () => {
    expect(() => read({}, ['--token=hunter2'])).toThrow(/^--token cannot be used: (?!.*hunter2)/);
  });

  it('knows which addresses only this machine can reach', () => {
    const hosts = [
      'localhost',
      '127.0.0.1',
      '127.1.2.3',
      '::1',
      '[::1]',
      '0.0.0.0',
      '::',
      '10.0.0.5',
      'ops.example.org',
    ];
    expect(hosts.filter((host) => read({ HOST: host }).isLoopback)).toEqual(hosts.slice(0, 5));
  });

  it('listens at an address of IPv6 that is written as in a URL', () => {
    expect(read({ HOST: '[::1]' }).host).toBe('::1');
    expect(read({ HOST: '[::]' })).toMatchObject({ host: '::', isLoopback: false });
  });

  it('says where a browser finds it', () => {
    expect(localUrl({ host: '0.0.0.0', port: 4000 })).toBe('http://localhost:4000');
    expect(localUrl({ host: '::1', port: 0 }, 51234)).toBe('http://[::1]:51234');
  });
});
