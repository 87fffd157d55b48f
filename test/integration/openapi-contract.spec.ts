/**
 * The documentation as a contract: requests to every route of a running gateway, each answer held against what the
 * document says of its status, its media type, its reason and its shape, without a field that is not described.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildDecisionLog, respondJson } from '#testing';
import { AGENT_KEY, OPERATOR_TOKEN } from './start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from './start-one-gateway.js';

type Json = Record<string, any>;

const OPERATOR = { authorization: `Bearer ${OPERATOR_TOKEN}`, 'x-observatory-operator-id': 'tester' };
const AGENT = { authorization: `Bearer ${AGENT_KEY}` };
const JSON_TYPE = { 'content-type': 'application/json' };

let document: Json;
let ajv: Ajv2020;
const validators = new Map<string, ValidateFunction>();
/** `GET /v1/sessions 200` and the like. */
const answered = new Set<string>();

startOneGateway((origin) => ({ ...upstreamsAt(origin), LLM_CACHE_BACKEND: 'memory' }));
beforeAll(async () => {
  upstream.script((_call, response) =>
    respondJson(response, 200, {
      id: 'c',
      model: 'gpt-4o-mini',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'The same.' } }],
      usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
    }),
  );
  document = (await (await fetch(`${gateway.url}/v1/openapi.json`)).json()) as Json;
  ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ ...closed(document), $id: 'openapi' });
});

/** Of objects that say which fields they have, no others are let through. */
function closed(value: unknown): any {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closed(inner)]));
  const isShape = copy.type === 'object' && typeof copy.properties === 'object';
  return isShape && copy.additionalProperties === undefined ? { ...copy, additionalProperties: false } : copy;
}

function validatorOf(schema: Json): ValidateFunction {
  const key = JSON.stringify(schema);
  const known = validators.get(key);
  if (known !== undefined) return known;
  const local = typeof schema.$ref === 'string' ? { $ref: `openapi${schema.$ref}` } : schema;
  const made = ajv.compile(local);
  validators.set(key, made);
  return made;
}

interface Call {
  params?: Record<string, string>;
  query?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Sends it, holds the answer against the document, and gives the body. */
async function ask(operation: string, status: number, call: Call = {}): Promise<any> {
  const [method = '', template = ''] = operation.split(' ');
  const described = document.paths[template]?.[method.toLowerCase()];
  expect(described, `${operation} is documented`).toBeDefined();
  const path = template.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(call.params?.[name] ?? 'unknown'),
  );
  const isRaw = typeof call.body === 'string';
  const response = await fetch(`${gateway.url}${path}${call.query ? `?${call.query}` : ''}`, {
    method,
    headers: { ...(call.body === undefined ? {} : JSON_TYPE), ...(call.headers ?? OPERATOR) },
    ...(call.body === undefined ? {} : { body: isRaw ? (call.body as string) : JSON.stringify(call.body) }),
  });
  const text = await response.text();
  const place = `${operation} ${response.status} ${text.slice(0, 400)}`;
  expect(response.status, place).toBe(status);
  const answer = described.responses[response.status];
  expect(answer, `${place}: a status that is not documented`).toBeDefined();
  answered.add(`${operation} ${response.status}`);
  if (answer.content === undefined) return text;
  const [[mediaType, { schema }]] = Object.entries(answer.content) as [[string, Json]];
  expect(response.headers.get('content-type'), place).toContain(mediaType);
  if (mediaType !== 'application/json') return text;
  const body = JSON.parse(text);
  const validate = validatorOf(schema);
  expect(
    validate(body)
      ? []
      : validate.errors?.map((e) => `${e.instancePath} ${e.message} ${JSON.stringify(e.params)}`),
    place,
  ).toEqual([]);
  if (schema.$ref?.endsWith('/Error')) expect(answer.description, place).toContain(`${body.reason}: `);
  return body;
}

const operations = (): [operation: string, described: Json][] =>
  Object.entries(document.paths as Record<string, Record<string, Json>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]): [string, Json] => [
      `${method.toUpperCase()} ${path}`,
      described,
    ]),
  );

const log = (session_id: string, overrides: Json = {}) =>
  buildDecisionLog({
    meta: { trace_id: crypto.randomUUID(), timestamp: new Date().toISOString(), session_id },
    ...overrides,
  } as never);
const send = async (session: string, overrides: Json = {}) =>
  ask('POST /v1/decision-logs', 202, { headers: AGENT, body: log(session, overrides) });
const proxied = (agent: string, content: string) =>
  fetch(`${gateway.url}/agents/${agent}/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: {
      ...AGENT,
      ...JSON_TYPE,
      'x-observatory-session': `of-${agent}`,
      'x-observatory-cache': 'bypass',
    },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }),
  });

describe('what is sent and read back', () => {
  it('steps and sessions', async () => {
    for (let index = 0; index < 5; index += 1)
      await send('looping', { action: { status: 'failure', tool_call: 'get_order' } });
    await ask('POST /v1/decision-logs', 202, { headers: AGENT, body: [log('one'), log('two')] });
    await ask('POST /v1/decision-logs', 207, { headers: AGENT, body: [log('one'), {}] });
    await ask('POST /v1/decision-logs', 422, { headers: AGENT, body: {} });
    await ask('POST /v1/decision-logs', 422, { headers: AGENT, body: [{}] });
    await ask('POST /v1/decision-logs', 400, { headers: AGENT, body: '{' });
    await ask('POST /v1/decision-logs', 400, { headers: AGENT, body: [] });
    await ask('POST /v1/decision-logs', 401, { headers: {}, body: {} });
    await ask('POST /v1/decision-logs', 415, {
      headers: { ...AGENT, 'content-type': 'text/plain' },
      body: 'x',
    });
    await ask('POST /v1/decision-logs', 413, { headers: AGENT, body: `"${'x'.repeat(10 * 1024 * 1024)}"` });
    const page = await ask('GET /v1/sessions', 200, { query: 'q=LOOP&limit=1&ended=false' });
    expect(page.items).toHaveLength(1);
    await ask('GET /v1/sessions', 200, { headers: AGENT });
    await ask('GET /v1/sessions/{session_id}', 200, { params: { session_id: 'looping' } });
    await ask('GET /v1/sessions/{session_id}', 404);
    await ask('GET /v1/sessions/{session_id}/decision-logs', 200, { params: { session_id: 'looping' } });
    await ask('GET /v1/sessions/{session_id}/decision-logs', 404);
    expect((await ask('GET /v1/alerts', 200)).items).not.toEqual([]);
    expect((await ask('GET /v1/violations', 200)).items).not.toEqual([]);
    await ask('POST /v1/sample-loop', 202);
  });

  it('control', async () => {
    await send('steered');
    const params = { session_id: 'steered' };
    for (const [command, body] of [
      ['pause', { reason: 'look' }],
      ['pause', { reason: 'look' }],
      ['inject', { prompt: 'another way' }],
      ['resume', undefined],
    ] as const)
      await ask(`POST /v1/sessions/{session_id}/${command}`, 200, { params, body });
    await ask('POST /v1/sessions/{session_id}/pause', 200, { params, body: { reason: 'again' } });
    const held = log('steered', {
      action: { status: 'success', tool_call: 'search', tool_input: { query: 'a' } },
    });
    await ask('POST /v1/decision-logs', 202, { headers: AGENT, body: held });
    await ask('POST /v1/sessions/{session_id}/rewrite', 200, {
      params,
      body: { trace_id: held.meta.trace_id, new_content: { query: 'b' } },
    });
    await ask('POST /v1/sessions/{session_id}/rewrite', 404, {
      params,
      body: { trace_id: 'unknown', new_content: {} },
    });
    const polled = await ask('GET /v1/sessions/{session_id}/control', 200, { params, headers: AGENT });
    await ask('POST /v1/sessions/{session_id}/control/ack', 200, {
      params,
      headers: AGENT,
      body: { seq: polled.cursor },
    });
    await ask('POST /v1/sessions/{session_id}/resume', 200, { params });
    await ask('POST /v1/sessions/{session_id}/terminate', 200, { params, body: { reason: 'enough' } });
    for (const [command, body] of [
      ['pause', { reason: 'x' }],
      ['resume', undefined],
      ['inject', { prompt: 'x' }],
      ['rewrite', { trace_id: 'x', new_content: {} }],
    ] as const) {
      await ask(`POST /v1/sessions/{session_id}/${command}`, 409, { params, body });
      await ask(`POST /v1/sessions/{session_id}/${command}`, 404, { body });
    }
    await ask('POST /v1/sessions/{session_id}/terminate', 404, { body: { reason: 'x' } });
    expect((await ask('GET /v1/audit', 200, { query: 'limit=3' })).items).toHaveLength(3);
    await ask('GET /v1/audit/export', 200);
    await ask('GET /v1/audit/verify', 200);
  });

  it('calls, agents and incidents', async () => {
    const callIds: string[] = [];
    for (let index = 0; index < 7; index += 1) {
      const response = await proxied('looper', 'Where is my order?');
      callIds.push(response.headers.get('x-observatory-call') ?? '');
      await response.text();
    }
    await ask('GET /v1/agents', 200);
    const params = { agent_id: 'looper' };
    await ask('GET /v1/agents/{agent_id}', 200, { params });
    await ask('GET /v1/agents/{agent_id}', 404);
    await ask('GET /v1/agents/{agent_id}/policy', 200, { params });
    await ask('PATCH /v1/agents/{agent_id}/policy', 200, { params, body: { requests_per_minute: 600 } });
    await ask('GET /v1/agents/{agent_id}/kill-switch', 200, { params });
    await ask('PATCH /v1/agents/{agent_id}/kill-switch', 200, { params, body: { preset: 'tolerant' } });
    const { items } = await ask('GET /v1/incidents', 200, { query: 'agent_id=looper' });
    expect(items).toHaveLength(1);
    await ask('GET /v1/incidents/{incident_id}', 200, { params: { incident_id: items[0].incident_id } });
    await ask('GET /v1/incidents/{incident_id}', 404);
    await ask('POST /v1/agents/{agent_id}/reactivate', 200, { params });
    await ask('POST /v1/agents/{agent_id}/reactivate', 200, { params });
    await ask('POST /v1/agents/{agent_id}/deactivate', 200, { params, body: { reason: 'x' } });
    await ask('GET /v1/all-agents', 200);
    await ask('GET /v1/all-agents/policy', 200);
    await ask('PATCH /v1/all-agents/policy', 200, { body: { budget_day_usd: 200 } });
    await ask('POST /v1/all-agents/deactivate', 200, { body: { reason: 'x' } });
    await ask('POST /v1/all-agents/reactivate', 200);
    await ask('GET /v1/semantic-loops', 200);
    expect((await ask('GET /v1/calls', 200, { query: 'agent_id=looper&failed=false' })).items).not.toEqual(
      [],
    );
    await ask('GET /v1/calls/{call_id}', 200, { params: { call_id: callIds[0] ?? '' } });
    await ask('GET /v1/calls/{call_id}', 404);
    await ask('GET /v1/held-calls', 200);
    for (const group of ['agent', 'model', 'day', 'hour'])
      expect((await ask('GET /v1/spend', 200, { query: `group=${group}` })).items).toHaveLength(1);
    await ask('GET /v1/spend', 422);
  });

  it('the cache', async () => {
    const send = () =>
      fetch(`${gateway.url}/agents/cached/proxy/openai/v1/chat/completions`, {
        method: 'POST',
        headers: { ...AGENT, ...JSON_TYPE },
        body: JSON.stringify({
          model: 'gpt-4o-mini',
          temperature: 0,
          messages: [{ role: 'user', content: 'Hi there' }],
        }),
      }).then((response) => response.text());
    await send();
    await send();
    await ask('GET /v1/cache/stats', 200);
    expect((await ask('GET /v1/cache/entries', 200)).items).toHaveLength(1);
    await ask('GET /v1/cache/matches', 200);
    await ask('POST /v1/cache/matches/{match_id}/verdict', 404, { body: { verdict: 'wrong' } });
    await ask('POST /v1/cache/invalidate', 200, { body: { preview: true } });
  });

  it('settings', async () => {
    await ask('GET /v1/config', 200);
    await ask('PATCH /v1/config', 200, { body: { entropy_tool_key: 'name' } });
    const prices = await ask('GET /v1/prices', 200);
    await ask('PUT /v1/prices', 200, { body: { version: prices.version, models: [] } });
    await ask('PUT /v1/prices', 409, { body: { version: prices.version, models: [] } });
    await ask('GET /v1/upstreams', 200);
    const body = { base_url: 'https://llm.example.org/v1', kind: 'openai', api_key: 'sk-x' };
    await ask('PUT /v1/upstreams/{name}', 200, { params: { name: 'mine' }, body });
    await ask('DELETE /v1/upstreams/{name}', 204, { params: { name: 'mine' } });
    await ask('DELETE /v1/upstreams/{name}', 404, { params: { name: 'mine' } });
  });

  it('alerting', async () => {
    await ask('GET /v1/alert-rules', 200);
    const rule = await ask('POST /v1/alert-rules', 201, {
      body: { name: 'Budget', type: 'budget', threshold: 0.9, channel_ids: [] },
    });
    const params = { rule_id: rule.rule_id };
    await ask('PATCH /v1/alert-rules/{rule_id}', 200, { params, body: { name: 'Nearly gone' } });
    const acknowledge = 'POST /v1/alert-rules/{rule_id}/acknowledge';
    await ask(acknowledge, 409, { params, body: { agent_id: 'looper' } });
    await ask('DELETE /v1/alert-rules/{rule_id}', 200, { params });
    await ask('DELETE /v1/alert-rules/{rule_id}', 404, { params });
    await ask(acknowledge, 404, { params, body: { agent_id: 'looper' } });
    const spend = await ask('POST /v1/alert-rules', 201, {
      body: { name: 'Spend', type: 'spend', threshold_usd: 0.000001, period: 'day', agent_id: 'looper' },
    });
    const spendParams = { rule_id: spend.rule_id };
    await ask(acknowledge, 200, { params: spendParams, body: { agent_id: 'looper' } });
    await ask('DELETE /v1/alert-rules/{rule_id}', 200, { params: spendParams });
    await ask('PATCH /v1/alert-rules/{rule_id}', 404, { params, body: { name: 'x' } });
    const channel = await ask('POST /v1/alert-channels', 201, {
      body: { kind: 'webhook', name: 'On call', url: 'http://127.0.0.1:9/', allow_private: true },
    });
    const channelParams = { channel_id: channel.channel.channel_id };
    await ask('GET /v1/alert-channels', 200);
    await ask('PATCH /v1/alert-channels/{channel_id}', 200, {
      params: channelParams,
      body: { name: 'Nights' },
    });
    await ask('POST /v1/alert-channels/{channel_id}/test', 200, { params: channelParams });
    await ask('DELETE /v1/alert-channels/{channel_id}', 200, { params: channelParams });
    for (const call of [
      'DELETE /v1/alert-channels/{channel_id}',
      'POST /v1/alert-channels/{channel_id}/test',
    ])
      await ask(call, 404, { params: channelParams });
    await ask('PATCH /v1/alert-channels/{channel_id}', 404, { params: channelParams, body: { name: 'x' } });
    await ask('GET /v1/alert-deliveries', 200);
    await ask('POST /v1/alert-deliveries/{delivery_id}/retry', 404);
    await ask('POST /v1/alert-deliveries/retry', 200);
    await ask('POST /v1/alert-deliveries/retry', 404, { body: { channel_id: 'nowhere' } });
  });

  it('pages whose cursors hold ids of any script and length', async () => {
    const ids = ['\u732b', '\u72ac', '\u9ce5'].map((character) => character.repeat(256));
    for (const id of ids) await send(id, { identity: { ...log('x').identity, agent_id: 'polyglot' } });
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query = `agent_id=polyglot&limit=1${cursor ? `&cursor=${cursor}` : ''}`;
      const page: Json = await ask('GET /v1/sessions', 200, { query });
      seen.push(...page.items.map((view: Json) => view.session_id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen.sort()).toEqual(ids.sort());
  });

  it('pages behind nonsense', async () => {
    const paged = operations().filter(([, { parameters = [] }]) =>
      parameters.some(({ name, in: place }: Json) => name === 'cursor' && place === 'query'),
    );
    expect(paged.length).toBeGreaterThan(8);
    const nonsense = ['x', '%20', 'eyJub25zZW5zZSI6MX0', 'WyJub25zZW5zZSIsMV0'];
    for (const [operation] of paged)
      for (const cursor of nonsense)
        expect((await ask(operation, 400, { query: `cursor=${cursor}` })).detail).toContain('cursor: ');
  });

  it('access', async () => {
    for (const name of ['.', '..', 'two\nlines', '\ud800'])
      expect(await ask('POST /v1/agent-keys', 422, { body: { name } })).toMatchObject({ fields: ['name'] });
    await ask('POST /v1/auth/login', 200, {
      headers: {},
      body: { token: OPERATOR_TOKEN, operator_id: 'ada' },
    });
    await ask('POST /v1/auth/login', 401, { headers: {}, body: { token: 'obs_op_x', operator_id: 'ada' } });
    await ask('POST /v1/auth/login', 422, { headers: {}, body: {} });
    await ask('POST /v1/auth/logout', 200, { headers: {} });
    await ask('GET /v1/auth/me', 200);
    await ask('POST /v1/auth/tenant', 400, { body: { tenant_id: 'default' } });
    const login = await fetch(`${gateway.url}/v1/auth/login`, {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify({ token: OPERATOR_TOKEN, operator_id: 'ada' }),
    });
    const cookie = login.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
    const headers = { cookie, origin: gateway.url };
    await ask('POST /v1/auth/tenant', 200, { headers, body: { tenant_id: 'default' } });
    await ask('POST /v1/auth/tenant', 403, {
      headers: { cookie, origin: 'https://elsewhere.example' },
      body: { tenant_id: 'default' },
    });
    const key = await ask('POST /v1/agent-keys', 201, { body: { name: 'research' } });
    await ask('GET /v1/agent-keys', 200);
    await ask('DELETE /v1/agent-keys/{key_id}', 200, { params: { key_id: key.key.key_id } });
    await ask('DELETE /v1/agent-keys/{key_id}', 404);
    const operator = await ask('POST /v1/operators', 201, { body: { name: 'nights', role: 'viewer' } });
    await ask('GET /v1/operators', 200);
    await ask('DELETE /v1/operators/{token_id}', 200, { params: { token_id: operator.operator.token_id } });
    await ask('DELETE /v1/operators/{token_id}', 404);
    await ask('GET /v1/tenants', 200);
    await ask('GET /v1/onboarding', 200);
  });

  it('operation', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics', '/v1/system', '/v1/openapi.json', '/docs'])
      await ask(`GET ${path}`, 200);
  });

  it('leaves out no route', () => {
    const missing = operations().flatMap(([operation, { responses }]) =>
      Object.keys(responses)
        .filter((status) => status.startsWith('2'))
        .map((status) => `${operation} ${status}`)
        .filter((one) => !answered.has(one)),
    );
    expect(missing).toEqual([
      // Takes an embedder and two calls that ask the same in other words, or a receiver that is away: tests of theirs.
      'POST /v1/cache/matches/{match_id}/verdict 200',
      'POST /v1/alert-deliveries/{delivery_id}/retry 200',
    ]);
  });
});

describe('refusals are documented where they happen', () => {
  const isOpen = ({ 'x-caller': caller }: Json) => ['anybody', 'loopback_or_observe'].includes(caller);
  const ofTheApi = () => operations().filter(([operation]) => operation.includes(' /v1/'));

  it('of strangers, of those who may not, and of those who do not say who they are', async () => {
    const viewer = await ask('POST /v1/operators', 201, { body: { name: 'viewer', role: 'viewer' } });
    for (const [operation, described] of ofTheApi()) {
      if (isOpen(described)) continue;
      await ask(operation, 401, { headers: {} });
      const caller: string = described['x-caller'];
      if (caller === 'agent' || operation.startsWith('GET')) continue;
      await ask(operation, 401, { headers: { authorization: OPERATOR.authorization } });
      if (!caller.endsWith('observe'))
        await ask(operation, 403, { headers: { ...OPERATOR, authorization: `Bearer ${viewer.secret}` } });
    }
  });

  it('of ids in the path that are longer than any', async () => {
    const tooLong = 'x'.repeat(257);
    for (const [operation, described] of ofTheApi()) {
      const [name] = /(?<=\{)\w+/.exec(operation) ?? [];
      if (name === undefined) continue;
      const headers = described['x-caller'] === 'agent' ? AGENT : OPERATOR;
      const { detail } = await ask(operation, 400, { params: { [name]: tooLong }, headers });
      expect(detail).toContain('256 characters');
    }
  });

  it('of cursors that no listing gave out', async () => {
    const paged = ofTheApi().filter(([, { parameters }]) =>
      parameters.some((parameter: Json) => parameter.name === 'cursor'),
    );
    expect(paged.length).toBeGreaterThan(9);
    for (const [operation] of paged) {
      // Those of semantic matches are ids, and one that is unknown has left the list.
      if (operation.includes('/matches')) continue;
      await ask(operation, 400, { query: 'cursor=nonsense' });
      await ask(operation, 422, { query: 'limit=0' });
    }
  });

  it('of bodies that are left out where they are required, and nowhere else', async () => {
    await send('empty');
    for (const [operation, described] of ofTheApi()) {
      if (!described.requestBody || operation.includes('decision-logs')) continue;
      const [method = '', path = ''] = operation.split(' ');
      const { authorization } = described['x-caller'] === 'agent' ? AGENT : OPERATOR;
      const { status } = await fetch(gateway.url + path.replace(/\{\w+\}/g, 'empty'), {
        method,
        headers: { ...OPERATOR, authorization },
      });
      expect(status === 422, `${operation} ${status}`).toBe(described.requestBody.required);
    }
  });

  it('of bodies that are no JSON, of another type, too long, or not what they should be', async () => {
    const withBody = ofTheApi().filter(
      ([operation, described]) => described.requestBody && !operation.includes('decision-logs'),
    );
    expect(withBody.length).toBeGreaterThan(15);
    for (const [operation, described] of withBody) {
      const headers = described['x-caller'] === 'agent' ? AGENT : OPERATOR;
      await ask(operation, 400, { headers, body: '{' });
      await ask(operation, 415, { headers: { ...headers, 'content-type': 'text/xml' }, body: '<x/>' });
    }
  });
});
