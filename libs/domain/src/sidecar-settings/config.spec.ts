import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '#kernel';
import { parseConfig } from './config.js';
import { readEnvironment } from './env.js';
import { parseSecrets } from './secrets.js';

const parse = (source: Record<string, string>) => parseConfig(readEnvironment(source).config);

describe('the settings of the design, section 6', () => {
  it('have its defaults', () => {
    expect(parse({})).toEqual({
      socketPath: '/tmp/embedding-sidecar.sock',
      embedder: 'static',
      modelPath: null,
      baseUrl: null,
      model: null,
      loopWhenSimilarityAbove: null,
      historySize: 5,
      ttlMs: 3_600_000,
      queueMax: 256,
      metricsPort: null,
      metricsHost: '127.0.0.1',
      logLevel: 'info',
    });
  });

  it('have its names', () => {
    const config = parse({
      UDS_PATH: '/run/observatory/embedding.sock',
      LOOP_SIMILARITY_THRESHOLD: '0.95',
      LOOP_HISTORY_SIZE: '10',
      LOOP_EMBEDDING_TTL: '1800',
      LOOP_EMBEDDING_MODEL_PATH: '/models/all-MiniLM-L6-v2',
    });
    expect(config).toMatchObject({
      socketPath: '/run/observatory/embedding.sock',
      loopWhenSimilarityAbove: 0.95,
      historySize: 10,
      ttlMs: 1_800_000,
      embedder: 'minilm',
      modelPath: '/models/all-MiniLM-L6-v2',
    });
  });

  it('take a duration with a unit as well as plain seconds', () => {
    expect(parse({ LOOP_EMBEDDING_TTL: '1h' }).ttlMs).toBe(3_600_000);
    expect(parse({ LOOP_EMBEDDING_TTL: '5000ms' }).ttlMs).toBe(5_000);
  });

  it('count an empty variable as not set', () => {
    expect(parse({ UDS_PATH: ' ', LOOP_HISTORY_SIZE: '' }).historySize).toBe(5);
  });
});

it('serves figures where it is told to', () => {
  expect(parse({ LOOP_METRICS_PORT: '9464', LOOP_METRICS_HOST: '0.0.0.0' })).toMatchObject({
    metricsPort: 9464,
    metricsHost: '0.0.0.0',
  });
});

describe('the embedder', () => {
  it('is the one that what else is set belongs to', () => {
    expect(parse({ LOOP_EMBEDDING_BASE_URL: 'http://x/v1', LOOP_EMBEDDING_MODEL: 'bge-m3' }).embedder).toBe(
      'openai',
    );
    expect(parse({ LOOP_EMBEDDER: 'Static', LOOP_EMBEDDING_MODEL_PATH: '/m' }).embedder).toBe('static');
  });

  it('must be named where two could be meant', () => {
    expect(() => parse({ LOOP_EMBEDDING_MODEL_PATH: '/m', LOOP_EMBEDDING_BASE_URL: 'http://x/v1' })).toThrow(
      /LOOP_EMBEDDER=minilm or openai/,
    );
  });

  it('needs address and model where it is elsewhere', () => {
    expect(() => parse({ LOOP_EMBEDDER: 'openai' })).toThrow(/LOOP_EMBEDDING_BASE_URL/);
    // What nobody has set is not what is refused.
    expect(() => parse({ LOOP_EMBEDDING_BASE_URL: 'http://x/v1' })).toThrow(
      'LOOP_EMBEDDING_BASE_URL cannot be used: set LOOP_EMBEDDING_MODEL as well, such as bge-m3.',
    );
  });
});

describe('a value that cannot be used', () => {
  it.each([
    ['LOOP_SIMILARITY_THRESHOLD', '1.5'],
    ['LOOP_SIMILARITY_THRESHOLD', '95%'],
    ['LOOP_HISTORY_SIZE', '0'],
    ['LOOP_HISTORY_SIZE', '5.5'],
    ['LOOP_EMBEDDING_TTL', 'soon'],
    ['LOOP_EMBEDDING_TTL', '10ms'],
    ['LOOP_EMBEDDER', 'gpt'],
    ['LOOP_QUEUE_MAX', '-1'],
    ['LOOP_METRICS_PORT', '70000'],
    ['LOG_LEVEL', 'loud'],
    ['LOOP_EMBEDDING_BASE_URL', 'localhost:9997'],
  ])('stops the start and names %s', (name, value) => {
    expect(() => parse({ [name]: value })).toThrow(ConfigError);
    expect(() => parse({ [name]: value })).toThrow(new RegExp(`^${name}.*cannot be used: .*(give|unset)`));
  });

  it('offers no port that it would refuse', () => {
    expect(() => parse({ LOOP_METRICS_PORT: '0' })).toThrow(
      'give a whole number from 1 to 65535, or unset it for none.',
    );
  });

  it('is not repeated where it may hold a password', () => {
    const url = 'http://user:hunter2hunter2@host/v1';
    expect(() => parse({ LOOP_EMBEDDING_BASE_URL: url })).toThrow(/^(?!.*hunter2)/);
    expect(() => parseSecrets({ REDIS_URL: 'http://:hunter2hunter2@host' })).toThrow(
      /^REDIS_URL (?!.*hunter2)/,
    );
  });
});

describe('secrets', () => {
  it('show nothing of themselves', () => {
    const secrets = parseSecrets({
      REDIS_URL: 'redis://:hunter2%21@redis:6379',
      LOOP_EMBEDDING_API_KEY: 'sk-hunter2',
    });
    expect(`${secrets} ${JSON.stringify(secrets)} ${inspect({ secrets })}`).not.toContain('hunter2');
    expect(secrets.values()).toEqual([
      'redis://:hunter2%21@redis:6379',
      'hunter2%21',
      'hunter2!',
      'sk-hunter2',
    ]);
  });
});
