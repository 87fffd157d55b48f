/**
 * Who may call what, route by route, as the documentation's table has it: a route that is added is driven here without another
 * word.
 */
import { once } from 'node:events';
import { get } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { mayRole, PERMISSIONS, type Permission, ROLES, type Role } from '#contracts';
import { ROUTES } from '../../apps/gateway/src/openapi/routes.js';
import { AGENT_KEY, OPERATOR_TOKEN } from './start-gateway.js';
import { gateway, startOneGateway, upstreamsAt } from './start-one-gateway.js';

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

/** What changes something, with what the route takes; nothing for the others. */
const bodyOf = (route: Route, otherwise: unknown): unknown =>
  route.method === 'get' || route.method === 'delete' ? undefined : otherwise;

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

describe('the metrics', () => {
  const statusFor = async (headers: Headers): Promise<number | undefined> => {
    const [response] = await once(get(`${gateway.url}/metrics`, { headers }), 'response');
    return response.resume().statusCode;
  };

  it('are open to this machine by its address or its own name, not where a page has had another name lead to it', async () => {
    const { port } = new URL(gateway.url);
    for (const host of ['127.0.0.1', '[::1]', 'localhost', 'build-box', 'app.localhost'])
      expect(await statusFor({ host: `${host}:${port}` }), host).toBe(200);
    for (const host of ['evil.example', '127.0.0.1.evil.example', 'evil.example.', 'localhost.evil.example'])
      expect(await statusFor({ host: `${host}:${port}` }), host).toBe(401);
  });

  it.each([
    ['x-forwarded-for', '203.0.113.9'],
    ['x-forwarded-proto', 'https'],
    ['x-forwarded-host', 'ops.example.org'],
    ['forwarded', 'for=203.0.113.9'],
    ['x-real-ip', '203.0.113.9'],
    ['via', '1.1 proxy'],
  ])('are open to no caller of a proxy that tells of it by %s', async (name, value) => {
    expect(await statusFor({ [name]: value })).toBe(401);
  });
});

it('a login through a proxy that is not trusted is told of once, with what to set', async () => {
  const count = () => gateway.output().match(/"event":"proxy_misfit"/g)?.length ?? 0;
  for (const headers of [{}, { 'x-forwarded-for': '203.0.113.9' }, { 'x-forwarded-for': '203.0.113.9' }]) {
    const body = JSON.stringify({ token: OPERATOR_TOKEN, operator_id: 'ada' });
    const answer = await fetch(`${gateway.url}/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(headers as Headers) },
      body,
    });
    expect(answer.status).toBe(200);
  }
  await expect.poll(count).toBe(1);
  expect(gateway.output()).toContain('OBSERVATORY_TRUST_PROXY=1');
});
