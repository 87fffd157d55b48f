/** docs/settings.md against the code: a variable that is read and not told of, and one that is told of and not read. */
import { expect, it } from 'vitest';
import { documentedSettings, FakeClock } from '#testing';
import { FakeAccessStore } from '../auth/access.fixture.js';
import { SettingsAudit } from '../auth/settings-audit.js';
import { parseConfig } from './config.js';
import { CONFIG_VARIABLES, RUNTIME_VARIABLES, readEnvironment, SECRET_VARIABLES } from './env.js';
import { LLM_CACHE_VARIABLES, parseLlmCacheConfig } from './llm-cache-config.js';
import { RuntimeConfigStore } from './runtime-config-store.js';
import { parseTracesConfig, TRACES_VARIABLES } from './traces-config.js';

const documented = documentedSettings('Gateway');
const defaults = Object.fromEntries(
  [...documented].flatMap(([name, value]) => (value ? [[name, value]] : [])),
);

it('names each variable that the gateway reads, and no other', () => {
  const read = [CONFIG_VARIABLES, SECRET_VARIABLES, RUNTIME_VARIABLES, LLM_CACHE_VARIABLES, TRACES_VARIABLES];
  const upstreams = ['URL', 'KEY', 'KIND'].map((what) => `OBSERVATORY_UPSTREAM_<NAME>_${what}`);
  // Read by sidecar-environment.ts alone, for the sidecar that the gateway starts.
  const handedOn = 'LOOP_EMBEDDING_REDIS_URL';
  const known = [...read.flatMap((table) => Object.values(table)), ...upstreams, handedOn];
  expect([...documented.keys()].sort()).toEqual(known.sort());
});

it('gives each default as it is: what is set to it changes nothing', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
  const parse = (source: Record<string, string>) => {
    const environment = readEnvironment(source);
    // Their stored values come later; what the variables say is all there is before `load`.
    const store = new FakeAccessStore();
    const runtime = new RuntimeConfigStore({
      store,
      audit: new SettingsAudit(store, new FakeClock()),
      environment: environment.runtime,
    });
    return {
      config: parseConfig(environment.config),
      llmCache: parseLlmCacheConfig(environment.llmCache),
      traces: parseTracesConfig(environment.traces),
      runtime: runtime.effective(),
    };
  };
  expect(parse({ ...defaults, ...endpoint })).toEqual(parse(endpoint));
});
