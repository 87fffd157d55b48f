import { expect, it } from 'vitest';
import { sidecarEnvironment } from './sidecar-environment.js';

it('passes on the settings of the sidecar and what any program needs', () => {
  const passed = {
    PATH: '/bin',
    TMPDIR: '/tmp',
    LOG_LEVEL: 'debug',
    LOOP_EMBEDDER: 'minilm',
    LOOP_EMBEDDING_MODEL_PATH: '/models',
    LOOP_SIMILARITY_THRESHOLD: '0.9',
    HTTPS_PROXY: 'http://proxy',
  };
  expect(sidecarEnvironment(passed)).toEqual(passed);
});

it("passes on none of the gateway's secrets, nor what is the gateway's own", () => {
  const kept = {
    OBSERVATORY_OPERATOR_TOKEN: 'secret',
    OBSERVATORY_UPSTREAM_OPENAI_KEY: 'secret',
    OBSERVATORY_SECRET_KEY: 'secret',
    LOOP_EMBEDDING_SIDECAR_UDS: '/tmp/x.sock',
    LOOP_EMBEDDING_SIDECAR_TIMEOUT: '50ms',
    LOOP_INTERVENTION_MESSAGE: 'stop',
    LOOP_DETECTION_ENABLED: 'true',
    UDS_PATH: '/tmp/y.sock',
    SOMETHING_ELSE: '1',
    LOOP_EMBEDDER: undefined,
  };
  expect(sidecarEnvironment(kept)).toEqual({});
});

it("gives it its own Redis under the name it knows, and not the gateway's", () => {
  expect(sidecarEnvironment({ REDIS_URL: 'redis://limits' })).toEqual({});
  expect(
    sidecarEnvironment({ REDIS_URL: 'redis://limits', LOOP_EMBEDDING_REDIS_URL: ' redis://vectors ' }),
  ).toEqual({ REDIS_URL: 'redis://vectors' });
});
