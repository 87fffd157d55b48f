import { expect, it } from 'vitest';
import { documentedSettings } from '#testing';
import { misspeltSettings } from './misspelt-settings.js';

it.each([
  ['OBSERVATORY_DATADIR', 'OBSERVATORY_DATA_DIR'],
  ['PROXY_BODY_TIMEOUT', 'PROXY_BODY_TIMEOUT_MS'],
  ['RETENTION_DAY', 'RETENTION_DAYS'],
  ['ENTROPY_WINDOWSIZE', 'ENTROPY_WINDOW_SIZE'],
  ['LLM_CACHE_SEMANTICS', 'LLM_CACHE_SEMANTIC'],
  ['OBSERVATORY_AGENT_KEYS', 'OBSERVATORY_AGENT_KEY'],
  ['observatory_public_url', 'OBSERVATORY_PUBLIC_URL'],
  ['LOOP_EMBEDING_TTL', 'LOOP_EMBEDDING_TTL'],
  ['LOOP_EMBEDDING_MODL', 'LOOP_EMBEDDING_MODEL'],
  ['LOOP_EMBEDDING_REDIS_URI', 'LOOP_EMBEDDING_REDIS_URL'],
  ['UDS_PAHT', 'UDS_PATH'],
  ['OBSERVATORY_UPSTREAM_openai_KEY', 'OBSERVATORY_UPSTREAM_OPENAI_KEY'],
  ['OBSERVATORY_UPSTREM_ANTHROPIC_KEY', 'OBSERVATORY_UPSTREAM_ANTHROPIC_KEY'],
  ['OBSERVATORY_UPSTREAM_GEMINI_KEYS', 'OBSERVATORY_UPSTREAM_GEMINI_KEY'],
  ['OBSERVATORY_UPSTREAM_my-vllm_URL', 'OBSERVATORY_UPSTREAM_MY_VLLM_URL'],
])('tells that %s is no setting, and that %s may be meant', (name, meant) => {
  expect(misspeltSettings({ [name]: 'x', PATH: '/bin' })).toEqual([
    `${name} is no setting and changes nothing; is ${meant} meant?`,
  ]);
});

it.each([
  'LLM_CACHE_ENABLED',
  'LLM_CACHE_SIMILARITY_THRESHOLD',
  'LLM_CACHE_REDIS_URL',
  'LOOP_THRESHOLD',
  'ENTROPY_WINDOW',
  'HITL_TTL',
  'KILL_SWITCH_ENABLED',
  'llm_cache_enabled',
])(
  'tells that %s is no setting, though it is like none: what begins so can be meant for us alone',
  (name) => {
    expect(misspeltSettings({ [name]: '0' })).toEqual([
      `${name} is no setting and changes nothing; docs/settings.md lists those that there are.`,
    ]);
  },
);

it('takes no setting of any program here for a misspelt one', () => {
  const chapters = ['Gateway', 'Embedding sidecar', 'Commands and tests'];
  const names = chapters.flatMap((chapter) => [...documentedSettings(chapter).keys()]);
  expect(names.length).toBeGreaterThan(80);
  expect(misspeltSettings(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual([]);
});

it('leaves other programs their variables', () => {
  const names = [
    'OBSERVATORY_SERVICE_HOST',
    'OBSERVATORY_SERVICE_PORT',
    'OBSERVATORY_PORT_4000_TCP',
    'OBSERVATORY_PORT',
    'OBSERVATORY_UPSTREAM_MY_VLLM_URL',
    'OBSERVATORY_UPSTREAM_OPENAI2_URL',
    'OBSERVATORY_UPSTREAM_SERVICE_HOST',
    'OBSERVATORY_UPSTREAM_PORT',
    'LLM_CACHE_SERVICE_HOST',
    'LLM_CACHE_SERVICE_PORT_REDIS',
    'LLM_CACHE_PORT',
    'LLM_CACHE_PORT_6379_TCP_ADDR',
    'REDIS_PORT',
    'REDIS_PASSWORD',
    'HOSTNAME',
    'NODE_ENV',
    'OPENAI_API_KEY',
    'SUPPORT',
    'OTEL_LOG_LEVEL',
    'OTEL_METRICS_EXPORTER',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
    'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
    'OTEL_EXPORTER_OTLP_LOGS_PROTOCOL',
  ];
  expect(misspeltSettings(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual([]);
});
