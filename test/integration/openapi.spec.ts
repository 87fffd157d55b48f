/** The documentation and the running gateway: what the one lists, the other serves, and nothing is open by accident. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROUTES } from '../../apps/gateway/src/openapi/routes.js';
import { startGateway } from './start-gateway.js';

let gateway: Awaited<ReturnType<typeof startGateway>>;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

type Route = (typeof ROUTES)[number];

const isOpen = (route: Route): boolean => ['anybody', 'loopback_or_observe'].includes(route.caller);

const named = (isMeant: (route: Route) => boolean): [string, Route][] =>
  ROUTES.filter(isMeant).map((route) => [`${route.method.toUpperCase()} ${route.path}`, route]);

/** Without credentials and without a body. */
const call = (route: Route): Promise<Response> =>
  fetch(gateway.url + route.path.replace(/\{\w+\}/g, 'unknown'), { method: route.method.toUpperCase() });

describe('the documentation', () => {
  it('is served to machines and to people, without credentials', async () => {
    const document = await fetch(`${gateway.url}/v1/openapi.json`);
    expect(document.status).toBe(200);
    expect(await document.json()).toMatchObject({ openapi: expect.stringMatching(/^3\.1/) });
    const page = await fetch(`${gateway.url}/docs`);
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(await page.text()).toContain('/v1/decision-logs');
  });

  it('names the address that answers, also where PORT left the choice to the system', async () => {
    const address = gateway.url.replace('127.0.0.1', 'localhost');
    const document = await fetch(`${gateway.url}/v1/openapi.json`);
    expect(await document.json()).toMatchObject({ servers: [{ url: address }] });
    const page = await fetch(`${gateway.url}/docs`);
    expect(await page.text()).toContain(`${address}/v1/decision-logs`);
  });

  it.each(named((route) => !isOpen(route)))(
    'lists %s, which exists and refuses a stranger',
    async (_, route) => {
      expect((await call(route)).status).toBe(401);
    },
  );

  it.each(named(isOpen))('lists %s, which exists and is open to this machine', async (_, route) => {
    expect([401, 403, 404, 405, 500]).not.toContain((await call(route)).status);
  });
});

describe('a member of a body that is not listed', () => {
  it.each([
    ['/v1/agent-keys', { name: 'fleet', tenants: ['acme'] }, 'tenants'],
    ['/v1/operators', { name: 'ada', role: 'viewer', tenants: ['acme'] }, 'tenants'],
    ['/v1/auth/login', { token: 'x', operator_id: 'ada', role: 'admin' }, 'role'],
  ])('is refused by %s, which names it', async (path, sent, name) => {
    const { status, body } = await gateway.operator('POST', path, sent);
    expect([status, body.reason, body.fields]).toEqual([422, 'invalid_fields', [name]]);
  });
});

describe('a query parameter that is not listed', () => {
  const ofTheApi = named((route) => route.path.startsWith('/v1/') && route.tag !== 'Ingest');

  it.each(ofTheApi)('is refused by %s, which names it and those that exist', async (_, route) => {
    const path = `${route.path.replace(/\{\w+\}/g, 'unknown')}?sesion_id=x`;
    const { status, body } = await gateway.operator(route.method.toUpperCase(), path);
    // Some are for agents alone, and a stranger is not told what a route takes.
    if (route.caller === 'agent') return expect(status).toBe(401);
    expect([status, body.reason, body.fields]).toEqual([422, 'invalid_fields', ['sesion_id']]);
    for (const name of Object.keys(route.query?.shape ?? {})) expect(body.detail).toContain(name);
  });

  it('is no matter to probes and pages', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics', '/docs']) {
      expect((await fetch(`${gateway.url}${path}?at=1`)).status, path).toBe(200);
    }
  });
});

describe('a query parameter that comes twice', () => {
  const taking = named(({ path, query }) => path.startsWith('/v1/') && query !== undefined);

  it.each(taking)('is refused by %s as that, not as another type', async (_, { path, query }) => {
    for (const name of Object.keys(query?.shape ?? {})) {
      const twice = `${path.replace(/\{\w+\}/g, 'unknown')}?${name}=1&${name}=1`;
      const { status, body } = await gateway.operator('GET', twice);
      expect([status, body.reason, body.fields]).toEqual([422, 'invalid_fields', [name]]);
      expect(body.detail).toBe(`${name}: given more than once; send it once.`);
    }
  });
});

describe('a body where none is taken', () => {
  const bodiless = named(({ path, method, body }) => path.startsWith('/v1/') && method !== 'get' && !body);

  it.each(bodiless)('is refused by %s, which would not heed it', async (_, { path, method }) => {
    const at = path.replace(/\{\w+\}/g, 'unknown');
    const { status, body } = await gateway.operator(method.toUpperCase(), at, { reason: 'x' });
    expect([status, body.reason, body.fields]).toEqual([422, 'invalid_fields', ['reason']]);
    expect(body.detail).toBe('reason: this route takes no body.');
    expect((await gateway.operator(method.toUpperCase(), at, {})).status).not.toBe(422);
  });

  it.each(bodiless)('is documented by %s as what can be wrong with it', async (_, { path, method }) => {
    const { body: document } = await gateway.operator('GET', '/v1/openapi.json');
    const { responses } = document.paths[path][method];
    for (const [type, body, status] of [
      ['application/json', '{', 400],
      ['text/xml', '<x/>', 415],
    ] as const) {
      const answer = await fetch(gateway.url + path.replace(/\{\w+\}/g, 'unknown'), {
        method: method.toUpperCase(),
        headers: { authorization: `Bearer ${gateway.operatorToken}`, 'content-type': type },
        body,
      });
      expect(answer.status).toBe(status);
      const { reason } = (await answer.json()) as { reason: string };
      expect(responses[status]?.description).toContain(`${reason}: `);
    }
  });
});

describe('a method that a path does not take', () => {
  const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
  const paths = [...new Set(ROUTES.map(({ path }) => path))].map((path) => {
    const taken = ROUTES.filter((route) => route.path === path).flatMap(({ method }) =>
      method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
    );
    return { path, taken, other: METHODS.find((method) => !taken.includes(method)) as string };
  });

  it.each(paths)('is refused by $path with those it takes', async ({ path, taken, other }) => {
    const response = await fetch(`${gateway.url}${path.replace(/\{\w+\}/g, 'unknown')}?x=canary`, {
      method: other,
    });
    expect([response.status, response.headers.get('allow')]).toEqual([405, taken.join(', ')]);
    const { reason, detail } = (await response.json()) as { reason: string; detail: string };
    expect([reason, detail]).toEqual([
      'method_not_allowed',
      `This path takes ${taken.join(', ')}, not ${other}; /docs says what each does.`,
    ]);
  });

  it('is none of HEAD where GET is answered', async () => {
    expect((await fetch(`${gateway.url}/v1/openapi.json`, { method: 'HEAD' })).status).toBe(200);
  });

  it('does not make a path of what is none', async () => {
    for (const path of ['/v1/sesions', '/v1/decision-logs/x', '/v1/sessions/a/b']) {
      const response = await fetch(`${gateway.url}${path}`, { method: 'POST' });
      expect([response.status, await response.json()]).toEqual([
        404,
        { status: 'error', reason: 'not_found', detail: 'There is nothing here; /docs lists every route.' },
      ]);
    }
  });
});

it('tells a slash at the end of a path as the mistake that it is', async () => {
  const answered = async (path: string) => {
    const response = await fetch(`${gateway.url}${path}`, { method: 'POST' });
    return [response.status, ((await response.json()) as { detail: string }).detail];
  };
  const detail = 'There is nothing here; leave out the slash at the end.';
  for (const path of ['/v1/decision-logs/', '/v1/sessions/a/pause/?x=1'])
    expect(await answered(path), path).toEqual([404, detail]);
  expect(await answered('/v1/decision-logs//')).not.toContain(detail);
});

const SOURCES = resolve(import.meta.dirname, '../../apps/gateway/src');

/** What the controllers say they serve, as the documentation writes it. */
function served(): string[] {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.controller.ts'))
    .flatMap((file) => {
      const source = readFileSync(join(SOURCES, file), 'utf8');
      const [, base = ''] = /@Controller\('?([^')]*)'?\)/.exec(source) ?? [];
      const routes = source.matchAll(/^ {2}@(Get|Post|Put|Patch|Delete)\('?([^')]*)'?\)/gm);
      return [...routes].map(([, method = '', path = '']) => {
        const whole = ['', base, path].filter((part, at) => at === 0 || part !== '').join('/');
        return `${method.toUpperCase()} ${whole.replaceAll(/:(\w+)/g, '{$1}')}`;
      });
    });
}

it('leaves out nothing that a controller serves', () => {
  const listed = new Set(ROUTES.map((route) => `${route.method.toUpperCase()} ${route.path}`));
  expect(served().length).toBeGreaterThan(40);
  expect(served().filter((route) => !listed.has(route))).toEqual([]);
});
