/**
 * Who may call what, route by route, as the documentation's table has it: a route that is added is driven here without another
 * word. And of two tenants neither sees or changes what is the other's, whatever it names.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { mayRole, PERMISSIONS, type Permission, ROLES, type Role } from '#contracts';
import { buildDecisionLog, respondJson } from '#testing';
import { ROUTES } from '../../apps/gateway/src/openapi/routes.js';
import { AGENT_KEY, OPERATOR_TOKEN } from './start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from './start-one-gateway.js';

type Json = Record<string, any>;
type Headers = Record<string, string>;
type Route = (typeof ROUTES)[number];

startOneGateway((origin) => ({ ...upstreamsAt(origin), LLM_CACHE_BACKEND: 'memory' }));

const nameOf = ({ method, path }: Route): string => `${method.toUpperCase()} ${path}`;
const table = (isMeant: (route: Route) => boolean): [string, Route][] =>
  ROUTES.filter(isMeant).map((route) => [nameOf(route), route]);

async function send(route: Route, headers: Headers, { ids = {}, query = '', body }: Sent = {}) {
  const path = route.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(ids[name] ?? 'unknown'));
  const response = await fetch(`${gateway.url}${path}${query}`, {
    method: route.method.toUpperCase(),
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}
interface Sent {
  ids?: Record<string, string>;
  query?: string;
  body?: unknown;
}

const bearer = (secret: string): Headers => ({
  authorization: `Bearer ${secret}`,
  'x-observatory-operator-id': 'tester',
});

async function made(path: string, body: Json): Promise<Json> {
  const answer = await gateway.operator('POST', path, body);
  expect(answer.status).toBe(201);
  return answer.body;
}
const makeOperator = (role: Role, tenant_ids: string[]) =>
  made('/v1/operators', { name: `${role} of ${tenant_ids}`, role, tenant_ids });
const makeKey = (tenant_id: string) => made('/v1/agent-keys', { name: `of ${tenant_id}`, tenant_id });

const GUARDED = table(({ caller }) => caller !== 'anybody' && caller !== 'loopback_or_observe');
const permissionOf = ({ caller }: Route): Permission | undefined =>
  PERMISSIONS.find((permission) => caller === permission || caller === `agent_or_${permission}`);

describe('whoever is none', () => {
  const strangers: Record<string, Headers> = {};
  beforeAll(async () => {
    const operator = await makeOperator('admin', ['default']);
    const key = await makeKey('default');
    await gateway.operator('DELETE', `/v1/operators/${operator.operator.token_id}`);
    await gateway.operator('DELETE', `/v1/agent-keys/${key.key.key_id}`);
    Object.assign(strangers, {
      'without credentials': {},
      'with a token that is wrong in its last character': bearer(`${OPERATOR_TOKEN.slice(0, -1)}x`),
      'with an agent key that is wrong': { 'x-observatory-key': `${AGENT_KEY}x` },
      'with an empty token': { authorization: 'Bearer ' },
      'with basic authentication': { authorization: `Basic ${btoa(`tester:${OPERATOR_TOKEN}`)}` },
      'with a revoked token': bearer(operator.secret),
      'with a revoked key': bearer(key.secret),
      'with a made-up cookie': {
        cookie: `observatory_session=${OPERATOR_TOKEN}`,
        'sec-fetch-site': 'same-origin',
      },
    });
  });

  it.each(GUARDED)('is refused by %s', async (_, route) => {
    for (const [words, headers] of Object.entries(strangers))
      expect((await send(route, headers)).status, words).toBe(401);
  });
});

describe.each(ROLES)('a %s', (role) => {
  let headers: Headers;
  let cookie: Headers;
  beforeAll(async () => {
    const { secret } = await makeOperator(role, ['roles']);
    headers = bearer(secret);
    const login = await fetch(`${gateway.url}/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: secret, operator_id: 'tester' }),
    });
    cookie = { cookie: String(login.headers.get('set-cookie')).split(';', 1)[0] as string };
  });

  it.each(GUARDED)('may call %s as far as its permissions go, for its own tenant', async (_, route) => {
    const permission = permissionOf(route);
    const { status, text } = await send(route, headers, { body: bodyOf(route, {}) });
    if (permission === undefined) expect(status).toBe(401);
    else if (!mayRole(role, permission))
      expect([status, text]).toEqual([403, expect.stringContaining(permission)]);
    // What takes an operator of all tenants is told so, not that it lacks a permission.
    else expect(text).not.toMatch(/takes the permission|"unauthorized"/);
    expect((await send(route, { ...headers, 'x-tenant-id': 'default' })).status).toBe(
      permission === undefined ? 401 : 403,
    );
  });

  const CHANGING = GUARDED.filter(([, { method }]) => method !== 'get');
  it.each(CHANGING)('is refused by %s where a foreign page uses its login', async (_, route) => {
    const foreign = { ...cookie, origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' };
    expect([401, 403]).toContain((await send(route, foreign)).status);
  });
});

describe('an agent key', () => {
  it.each(GUARDED)('opens %s only where it is for agents', async (_, route) => {
    const isForAgents = route.caller.startsWith('agent');
    const { status } = await send(route, { authorization: `Bearer ${AGENT_KEY}` });
    if (isForAgents) expect([401, 403]).not.toContain(status);
    else expect([401, 403]).toContain(status);
  });
});

/** Stands in everything that the other tenant has. */
const CANARY = 'canary-of-blue';

/** What changes something, with what the route takes; nothing for the others. */
const bodyOf = (route: Route, otherwise: unknown): unknown =>
  route.method === 'get' || route.method === 'delete' ? undefined : otherwise;

describe('of two tenants, one', () => {
  let red: Headers;
  let redKey: Headers;
  let blue: Headers;
  /** Of what the other has, by the name of the parameter. */
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    upstream.script((_call, response) =>
      respondJson(response, 200, {
        id: 'c',
        model: CANARY,
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: CANARY } }],
        usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
      }),
    );
    red = bearer((await makeOperator('admin', ['red'])).secret);
    const blueOperator = await makeOperator('admin', ['blue']);
    blue = bearer(blueOperator.secret);
    redKey = { authorization: `Bearer ${(await makeKey('red')).secret}` };
    const key = await makeKey('blue');
    ids.token_id = blueOperator.operator.token_id;
    ids.key_id = key.key.key_id;
    ids.session_id = ids.agent_id = ids.name = CANARY;
    await fillBlue({ authorization: `Bearer ${key.secret}` });
  });

  const asBlue = async (method: string, path: string, body?: unknown): Promise<any> => {
    const response = await fetch(gateway.url + path, {
      method,
      headers: { ...blue, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(response.status, `${method} ${path}`).toBeLessThan(300);
    return response.json();
  };

  async function fillBlue(key: Headers): Promise<void> {
    for (let step = 0; step < 5; step += 1) {
      const meta = { trace_id: `${CANARY}-${step}`, session_id: CANARY };
      const log = buildDecisionLog({
        meta,
        identity: { agent_id: CANARY },
        cognition: { intent: CANARY },
        action: { status: 'failure', tool_call: CANARY },
      });
      expect((await gateway.ingest(log, key)).status).toBe(202);
    }
    await gateway.ingest({ identity: { agent_id: CANARY } }, key);
    for (let call = 0; call < 7; call += 1) {
      const response = await fetch(`${gateway.url}/agents/${CANARY}/proxy/openai/v1/chat/completions`, {
        method: 'POST',
        headers: { ...key, 'content-type': 'application/json', 'x-observatory-session': `${CANARY}-calls` },
        body: JSON.stringify({
          model: CANARY,
          temperature: 0,
          messages: [{ role: 'user', content: `Where is ${CANARY}?` }],
        }),
      });
      await response.text();
    }
    await asBlue('POST', `/v1/sessions/${CANARY}/pause`, { reason: CANARY });
    await asBlue('PUT', `/v1/upstreams/${CANARY}`, {
      kind: 'openai',
      base_url: `${upstream.origin}/blue`,
      api_key: 'sk-of-blue',
    });
    const models = await fetch(`${gateway.url}/proxy/${CANARY}/v1/models`, { headers: key });
    expect(models.status).toBe(200);
    await models.text();
    const channel = await asBlue('POST', '/v1/alert-channels', {
      kind: 'webhook',
      name: CANARY,
      url: 'https://blue.example/hook',
    });
    ids.channel_id = channel.channel.channel_id;
    const rule = { name: CANARY, type: 'budget', threshold: 0.9, channel_ids: [ids.channel_id] };
    ids.rule_id = (await asBlue('POST', '/v1/alert-rules', rule)).rule_id;
    await asBlue('POST', `/v1/alert-channels/${ids.channel_id}/test`);
    const first = async (path: string) => (await asBlue('GET', path)).items[0];
    ids.call_id = (await first(`/v1/calls?agent_id=${CANARY}`)).call_id;
    ids.incident_id = (await first('/v1/incidents')).incident_id;
  }

  const OF_TENANTS = GUARDED.filter(([, route]) => route.path !== '/v1/config');
  const NAMED = OF_TENANTS.filter(([, route]) => route.path.includes('{'));

  it.each(OF_TENANTS.filter(([, { method, path }]) => method === 'get' && !path.includes('{')))(
    'reads by %s nothing of the other, whatever it looks for',
    async (_, route) => {
      const names = Object.keys(route.query?.shape ?? {}).filter((name) =>
        ['session_id', 'agent_id', 'model', 'q', 'channel_id'].includes(name),
      );
      const required = route.path === '/v1/spend' ? 'group=agent&' : '';
      for (const query of ['', ...names.map((name) => `${name}=${ids[name] ?? CANARY}`)]) {
        const { status, text } = await send(route, red, { query: `?${required}${query}` });
        expect(status, query).toBe(200);
        expect(text).not.toContain(CANARY);
        expect(text).not.toContain('blue');
      }
    },
  );

  it.each(NAMED)('cannot tell by %s whether the other has such a one', async (_, route) => {
    for (const headers of [red, redKey]) {
      const sent = { body: bodyOf(route, route.body?.example) };
      const foreign = await send(route, headers, { ...sent, ids });
      const unknown = await send(route, headers, sent);
      const names = [...Object.values(ids), 'unknown'];
      const neutral = (text: string) =>
        names.reduce((now, id) => now.replaceAll(id, '*'), text).replace(/\b\d{13}\b/g, 'now');
      expect([foreign.status, neutral(foreign.text)]).toEqual([unknown.status, neutral(unknown.text)]);
    }
  });

  it('has what it has afterwards, to the last', async () => {
    const view = await asBlue('GET', `/v1/sessions/${CANARY}`);
    expect(view.control.state).toMatch(/^paus/);
    expect((await asBlue('GET', '/v1/upstreams')).items.map((one: Json) => one.name)).toContain(CANARY);
    expect((await asBlue('GET', '/v1/alert-channels')).items).toMatchObject([{ name: CANARY }]);
    expect((await asBlue('GET', '/v1/alert-rules')).items).toContainEqual(
      expect.objectContaining({ rule_id: ids.rule_id, muted_until_ms: null }),
    );
    expect((await asBlue('GET', '/v1/agent-keys')).items).toMatchObject([{ revoked_at_ms: null }]);
  });

  it('stands in no metric, by name', async () => {
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toContain('observatory_');
    expect(metrics).not.toContain(CANARY);
    expect(metrics).not.toMatch(/\bblue\b/);
  });
});
