/**
 * Of two tenants neither sees, changes or can make out what is the other's, whatever it names: by every route of the
 * documentation's table, by every live topic, and through the proxy. A route or topic that is added is driven here without
 * another word. What it is not about: the settings of the whole gateway (`/v1/config`), and its figures in `/v1/system`.
 */
import { io, type Socket } from 'socket.io-client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { NAMESPACES, TOPICS } from '#contracts';
import { buildDecisionLog, respondJson } from '#testing';
import { ROUTES } from '../../apps/gateway/src/openapi/routes.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from './start-one-gateway.js';

type Json = Record<string, any>;
type Headers = Record<string, string>;
type Route = (typeof ROUTES)[number];

interface Tenant {
  operator: Headers;
  token: string;
  key: Headers;
  agentKey: string;
  /** By the name of the parameter, of what was made last. */
  ids: Record<string, string>;
  live: Listener;
}
interface Listener {
  socket: Socket;
  /** By topic, the number it began from. */
  began: Map<string, number>;
  /** What it was told so far, as JSON, by topic. */
  heard: Map<string, string>;
}

/** What both have one of, by that name. */
const SAME = 'same';
/** Stands in every text of blue's, and is the name of what only blue has; the other is red's. */
const CANARY = 'canary-of-blue';
const WORD = 'word-of-red';
/** The message that the paused session of each holds, by its trace. */
const HELD = 'held';

startOneGateway((origin) => ({
  ...upstreamsAt(origin),
  LLM_CACHE_BACKEND: 'memory',
  LLM_CACHE_SEMANTIC: 'shadow',
  LOOP_DETECTION_ENABLED: 'true',
  LOOP_EMBEDDING_SIDECAR_TIMEOUT: '5s',
}));

let red: Tenant;
let blue: Tenant;
beforeAll(async () => {
  upstream.script((call, response) => {
    if (call.url === '/hook') return void response.writeHead(400).end(CANARY);
    const { model = 'm', user = '' } = (call.json ?? {}) as Json;
    // The caller's own word: whoever gets another's got another's answer.
    const message = { role: 'assistant', content: `Open the settings page of ${user}.` };
    respondJson(response, 200, {
      id: 'c',
      model,
      choices: [{ index: 0, finish_reason: 'stop', message }],
      usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
    });
  });
  await vi.waitFor(
    async () => expect((await gateway.operator('GET', '/v1/system')).body.sidecar.state).toBe('serving'),
    { timeout: 30_000 },
  );
  red = await makeTenant('red');
  blue = await makeTenant('blue');
  await fill(blue, SAME, CANARY);
  await fill(blue, CANARY, CANARY);
  await fill(red, WORD, WORD);
  await fill(red, SAME, WORD);
  for (const tenant of [red, blue]) await untilAllIsTold(tenant);
});
afterAll(() => {
  for (const tenant of [red, blue]) tenant.live.socket.close();
});

async function makeTenant(name: string): Promise<Tenant> {
  const { body: operator } = await gateway.operator('POST', '/v1/operators', {
    name: `of ${name}`,
    role: 'admin',
    tenant_ids: [name],
  });
  const { body: key } = await gateway.operator('POST', '/v1/agent-keys', {
    name: `of ${name}`,
    tenant_id: name,
  });
  return {
    operator: { authorization: `Bearer ${operator.secret}`, 'x-observatory-operator-id': `tester-${name}` },
    token: operator.secret,
    key: { authorization: `Bearer ${key.secret}` },
    agentKey: key.secret,
    ids: {},
    live: await listen(operator.secret),
  };
}

async function listen(token: string): Promise<Listener> {
  const socket = io(gateway.url + NAMESPACES.operators, { auth: { token }, transports: ['websocket'] });
  const heard = new Map<string, string>();
  socket.on('frame', ({ topic, events }) =>
    heard.set(topic, (heard.get(topic) ?? '') + JSON.stringify(events)),
  );
  const began = new Map<string, number>();
  for (const topic of Object.values(TOPICS))
    began.set(topic, (await socket.emitWithAck('subscribe', { topic })).seq);
  return { socket, began, heard };
}

interface Sent {
  ids?: Record<string, string>;
  query?: string;
  body?: unknown;
}
interface Answered {
  status: number;
  headers: Headers;
  text: string;
}

async function send(
  route: Pick<Route, 'method' | 'path'>,
  headers: Headers,
  sent: Sent = {},
): Promise<Answered> {
  const path = route.path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(sent.ids?.[name] ?? 'unknown'),
  );
  const isSaid = sent.body !== undefined && route.method !== 'get' && route.method !== 'delete';
  const response = await fetch(`${gateway.url}${path}${sent.query ?? ''}`, {
    method: route.method.toUpperCase(),
    headers: { ...(isSaid ? { 'content-type': 'application/json' } : {}), ...headers },
    ...(isSaid ? { body: JSON.stringify(sent.body) } : {}),
  });
  const {
    date,
    'x-request-id': requestId,
    'x-observatory-call': callId,
    ...others
  } = Object.fromEntries(response.headers);
  return { status: response.status, headers: others, text: await response.text() };
}

/** What is expected to succeed. */
async function done(tenant: Tenant, method: Route['method'], path: string, body?: unknown): Promise<any> {
  const { status, text } = await send({ method, path }, tenant.operator, { body });
  expect(status, `${method} ${path}: ${text}`).toBeLessThan(300);
  return text === '' ? null : JSON.parse(text);
}
const firstOf = (tenant: Tenant, path: string): Promise<Json> =>
  vi.waitFor(
    async () => {
      const [first] = (await done(tenant, 'get', path)).items;
      expect(first, path).toBeDefined();
      return first;
    },
    { timeout: 10_000 },
  );

async function step(
  tenant: Tenant,
  session_id: string,
  text: string,
  trace_id: string = crypto.randomUUID(),
) {
  const log = buildDecisionLog({
    meta: { trace_id, session_id },
    identity: { agent_id: session_id },
    cognition: { intent: text },
    action: { status: 'failure', tool_call: text },
  });
  expect((await gateway.ingest(log, tenant.key)).status).toBe(202);
}

async function ask(tenant: Tenant, agent: string, session: string, body: Json): Promise<string> {
  const response = await fetch(`${gateway.url}/agents/${agent}/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { ...tenant.key, 'content-type': 'application/json', 'x-observatory-session': session },
    body: JSON.stringify({ model: 'gpt-4o-mini', temperature: 0, ...body }),
  });
  return response.text();
}
const question = (content: string) => ({ messages: [{ role: 'user', content }] });

/** One of everything that a tenant can have, by the name `id` where it is named, and with `text` wherever there is one. */
async function fill(tenant: Tenant, id: string, text: string): Promise<void> {
  const { ids } = tenant;
  const hook = { kind: 'webhook', name: text, url: `${upstream.origin}/hook`, allow_private: true };
  ids.channel_id = (await done(tenant, 'post', '/v1/alert-channels', hook)).channel.channel_id as string;
  const rule = { name: text, type: 'entropy_loop', cooldown_s: 0, channel_ids: [ids.channel_id] };
  ids.rule_id = (await done(tenant, 'post', '/v1/alert-rules', rule)).rule_id;
  for (let count = 0; count < 5; count += 1) await step(tenant, id, text);
  await gateway.ingest({ identity: { agent_id: text } }, tenant.key);
  for (let count = 0; count < 7; count += 1)
    await ask(tenant, id, `${id}-calls`, { model: text, user: text, ...question(`Where is ${text}?`) });
  const asked = ['How can I reset my password on the portal?', 'How do I reset my password on the portal?'];
  for (const [turn, words] of asked.entries()) {
    await ask(tenant, `${id}-asks`, `${id}-asks`, { user: text, ...question(words) });
    await ask(tenant, `${id}-cached`, `${id}-${turn}`, { user: text, ...question(words) });
  }
  await done(tenant, 'post', `/v1/sessions/${id}/pause`, { reason: text });
  await done(tenant, 'patch', '/v1/all-agents/policy', { allowed_models: [text, '*'] });
  await step(tenant, id, text, HELD);
  const target = { kind: 'openai', base_url: `${upstream.origin}/${text}`, api_key: `sk-${text}` };
  await done(tenant, 'put', `/v1/upstreams/${id}`, target);
  const { version } = await done(tenant, 'get', '/v1/prices');
  const price = { model: text, input_usd: 1, output_usd: 1, cached_input_usd: 1, cache_write_usd: 1 };
  await done(tenant, 'put', '/v1/prices', { version, models: [price] });
  ids.key_id = (await done(tenant, 'post', '/v1/agent-keys', { name: text })).key.key_id;
  ids.token_id = (
    await done(tenant, 'post', '/v1/operators', { name: text, role: 'viewer' })
  ).operator.token_id;
  ids.session_id = ids.agent_id = ids.name = id;
  ids.call_id = (await firstOf(tenant, `/v1/calls?agent_id=${id}`)).call_id;
  ids.incident_id = (await firstOf(tenant, `/v1/incidents?agent_id=${id}`)).incident_id;
  ids.match_id = (await firstOf(tenant, '/v1/cache/matches')).match_id;
  ids.delivery_id = (await firstOf(tenant, '/v1/alert-deliveries')).delivery_id;
  await firstOf(tenant, `/v1/semantic-loops?session_id=${id}-asks`);
  // The last of its calls.
  await firstOf(tenant, `/v1/calls?session_id=${id}-1`);
  await vi.waitFor(() => done(tenant, 'get', `/v1/sessions/${id}-1`), { timeout: 10_000 });
}

/** Of two fillings, each with a rule for the loops of both; from then on nothing of this tenant changes by itself. */
const untilAllIsTold = (tenant: Tenant): Promise<void> =>
  vi.waitFor(
    async () => {
      const { items } = await done(tenant, 'get', '/v1/alert-deliveries');
      expect(items.map(({ state }: Json) => state)).toEqual(['dead', 'dead', 'dead', 'dead']);
    },
    { timeout: 10_000 },
  );

const GUARDED = ROUTES.filter(
  ({ caller, path }) => caller !== 'anybody' && caller !== 'loopback_or_observe' && path !== '/v1/config',
);
const table = (isMeant: (route: Route) => boolean): [string, Route][] =>
  GUARDED.filter(isMeant).map((route) => [`${route.method.toUpperCase()} ${route.path}`, route]);
const isNamed = ({ path }: Route) => path.includes('{');
/** What a route cannot do without. */
const REQUIRED: Record<string, string> = { '/v1/spend': 'group=agent&' };

/** Where what the documentation gives as an example does not fit what was made here. */
const BODIES: Record<string, unknown> = {
  '/v1/sessions/{session_id}/rewrite': { trace_id: HELD, new_content: {} },
  '/v1/prices': { version: 1, models: [] },
  '/v1/cache/invalidate': { pattern: '*', preview: false },
  '/v1/alert-deliveries/retry': {},
  '/v1/alert-rules/{rule_id}': { enabled: false },
  '/v1/alert-rules/{rule_id}/acknowledge': { agent_id: SAME },
};

const REFUSED: ReadonlySet<string> = new Set([
  // It takes a login.
  'POST /v1/auth/tenant',
  // The session that looped was terminated by a route before it.
  'POST /v1/alert-rules/{rule_id}/acknowledge',
]);

/** As long, and of the same form. */
const nowhere = (id: string): string => `${id.slice(0, -1)}${id.endsWith('0') ? 1 : 0}`;
const nowhereOf = (ids: Record<string, string>) =>
  Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, nowhere(id)]));
/** Without the ids that were asked for, which an answer may say again, and the time. */
function neutral({ text, ...others }: Answered, ids: Record<string, string>): Answered {
  const variable = (id: string) => id.toUpperCase().replaceAll('-', '_');
  const named = Object.values(ids).reduce(
    (so, id) => so.replaceAll(id, '*').replaceAll(variable(id), '*'),
    text,
  );
  return { ...others, text: named.replace(/\b\d{13}\b/g, 'now') };
}

/** Of the one who reads, and of whoever is quiet for a while. */
const OF_NOW = /"(last_used_at_ms|calls_per_minute|state)":(\d+|"(?:active|idle)")/g;

/** What a tenant reads by every route, by the route; of what has an id the one made last. */
async function readAll(tenant: Tenant): Promise<Map<string, string>> {
  const read = new Map<string, string>();
  for (const [name, route] of table(({ method }) => method === 'get')) {
    if (route.path === '/v1/system') continue;
    const { ids } = tenant;
    const { text } = await send(route, tenant.operator, { ids, query: `?${REQUIRED[route.path] ?? ''}` });
    read.set(name, text.replace(OF_NOW, '"$1":"now"'));
  }
  return read;
}

describe('of two tenants, one', () => {
  it('has been told on every live topic of what is its own, and of nothing of the other', async () => {
    for (const [tenant, word] of [
      [blue, CANARY],
      [red, WORD],
    ] as const)
      for (const topic of Object.values(TOPICS))
        if (topic !== TOPICS.stats)
          await vi.waitFor(() => expect(tenant.live.heard.get(topic), topic).toContain(word), {
            timeout: 10_000,
          });
    expect([...red.live.heard.values()].join()).not.toContain(CANARY);
    expect([...blue.live.heard.values()].join()).not.toContain(WORD);
  });

  it('is told nothing of the other where it comes back to a topic', async () => {
    const { socket, began } = red.live;
    for (const [topic, seq] of began)
      for (const after_seq of [undefined, seq]) {
        const ack = await socket.emitWithAck('subscribe', { topic, after_seq });
        expect(ack).toMatchObject({ kind: after_seq === undefined ? 'snapshot' : 'deltas' });
        expect(JSON.stringify(ack), topic).not.toContain(CANARY);
      }
  });

  it('is told on the topic of a session of what happens in its own, where both have one of that name', async () => {
    const topic = `session:${SAME}`;
    for (const { live } of [blue, red]) {
      const { snapshot } = await live.socket.emitWithAck('subscribe', { topic });
      live.heard.set(topic, JSON.stringify(snapshot));
    }
    await step(blue, SAME, `later ${CANARY}`);
    await step(red, SAME, `later ${WORD}`);
    for (const [{ live }, word, foreign] of [
      [blue, `later ${CANARY}`, WORD],
      [red, `later ${WORD}`, CANARY],
    ] as const) {
      await vi.waitFor(() => expect(live.heard.get(topic)).toContain(word));
      expect(live.heard.get(topic)).not.toContain(foreign);
    }
  });

  it('cannot make out by a topic which sessions the other has', async () => {
    for (const name of [
      `session:${CANARY}`,
      `blue|session:${CANARY}`,
      `session:blue|${CANARY}`,
      'blue|gateway:messages',
    ]) {
      const [foreign, unknown] = await Promise.all(
        [name, nowhere(name)].map((topic) => red.live.socket.emitWithAck('subscribe', { topic })),
      );
      expect(foreign).toMatchObject({ status: 'error' });
      expect(JSON.stringify(foreign).replace(name, '*')).toBe(
        JSON.stringify(unknown).replace(nowhere(name), '*'),
      );
    }
  });

  it('hears as an agent the control of its own session, where both have one of that name', async () => {
    const socket = io(gateway.url + NAMESPACES.agents, {
      auth: { key: red.agentKey },
      transports: ['websocket'],
    });
    try {
      let heard = '';
      socket.on('control', (message) => (heard += JSON.stringify(message)));
      for (const session_id of [SAME, CANARY]) await socket.emitWithAck('watch_control', { session_id });
      for (const [tenant, session, prompt] of [
        [blue, SAME, CANARY],
        [blue, CANARY, CANARY],
        [red, SAME, WORD],
      ] as const)
        await done(tenant, 'post', `/v1/sessions/${session}/inject`, { prompt });
      await vi.waitFor(() => expect(heard).toContain(WORD));
      expect(heard).not.toContain(CANARY);
    } finally {
      socket.close();
    }
  });

  it.each(table((route) => route.method === 'get' && !isNamed(route)))(
    'reads by %s nothing of the other, whatever it looks for',
    async (_, route) => {
      const names = Object.keys(route.query?.shape ?? {});
      const looked = names.filter((name) =>
        ['session_id', 'agent_id', 'model', 'q', 'channel_id'].includes(name),
      );
      const queries = looked.flatMap((name) =>
        [blue.ids[name] ?? CANARY, SAME, CANARY].map((id) => `${name}=${id}`),
      );
      // Where the other's list goes on.
      if (names.includes('cursor')) {
        const { next_cursor } = await done(blue, 'get', `${route.path}?${REQUIRED[route.path] ?? ''}limit=1`);
        if (next_cursor) queries.push(`cursor=${encodeURIComponent(next_cursor)}`);
      }
      for (const query of ['', ...queries]) {
        const { text } = await send(route, red.operator, { query: `?${REQUIRED[route.path] ?? ''}${query}` });
        expect(text, query).not.toContain(CANARY);
        expect(text, query).not.toMatch(/\bblue\b/);
      }
    },
  );

  it.each(table(isNamed))('cannot make out by %s whether the other has such a one', async (_, route) => {
    for (const headers of [red.operator, red.key]) {
      const before = await readAll(blue);
      const [foreign, unknown] = [blue.ids, nowhereOf(blue.ids)];
      const answers = [];
      for (const ids of [foreign, unknown])
        answers.push(neutral(await send(route, headers, { ids, body: route.body?.example }), ids));
      expect(answers[0]).toEqual(answers[1]);
      expect(await readAll(blue)).toEqual(before);
    }
  });

  it('nor by naming it in a body', async () => {
    const rule = { name: 'r', type: 'budget', threshold: 0.9 };
    const naming: [Route['method'], string, (ids: Record<string, string>) => Json][] = [
      ['post', '/v1/alert-rules', ({ channel_id }) => ({ ...rule, channel_ids: [channel_id] })],
      ['patch', `/v1/alert-rules/${red.ids.rule_id}`, ({ channel_id }) => ({ channel_ids: [channel_id] })],
      ['post', '/v1/alert-deliveries/retry', ({ channel_id }) => ({ channel_id })],
    ];
    for (const [method, path, bodyOf] of naming) {
      const [foreign, unknown] = await Promise.all(
        [blue.ids, nowhereOf(blue.ids)].map(async (ids) =>
          neutral(await send({ method, path }, red.operator, { body: bodyOf(ids) }), ids),
        ),
      );
      expect(foreign?.status, path).toBeGreaterThanOrEqual(400);
      expect(foreign).toEqual(unknown);
    }
  });

  it('cannot make out by a call which upstreams the other has', async () => {
    const answers = [];
    for (const name of [CANARY, nowhere(CANARY)]) {
      const route = { method: 'get', path: `/proxy/${name}/v1/models` } as const;
      answers.push(neutral(await send(route, red.key), { name }));
    }
    expect(answers[0]?.status).toBe(404);
    expect(answers[0]).toEqual(answers[1]);
  });

  // What is held is rewritten before somebody lets it go on, and what is removed is removed last.
  const isFirst = ({ path }: Route) => path.endsWith('/rewrite');
  const isLast = ({ method }: Route) => method === 'delete';
  const CHANGING = [
    ...table(isFirst),
    ...table((route) => route.method !== 'get' && !isFirst(route) && !isLast(route)),
    ...table(isLast),
  ];
  it.each(CHANGING)(
    'changes by %s nothing of the other, where both have one of that name',
    async (name, route) => {
      const before = await readAll(blue);
      const headers = route.caller === 'agent' ? red.key : red.operator;
      const body = route.path in BODIES ? BODIES[route.path] : route.body?.example;
      const { status, text } = await send(route, headers, { ids: red.ids, body });
      expect(status < 300, text).toBe(!REFUSED.has(name));
      expect(await readAll(blue)).toEqual(before);
    },
  );

  it('is not answered, limited or warned for what the other asked under the same names', async () => {
    for (const [tenant, word] of [
      [blue, CANARY],
      [red, WORD],
    ] as const) {
      await done(tenant, 'patch', '/v1/agents/twin/policy', { requests_per_minute: 1 });
      const asked = { user: word, ...question('What does the portal cost in a year?') };
      expect(await ask(tenant, 'twin', 'twin', asked)).toContain(word);
    }
    expect((await done(red, 'get', '/v1/semantic-loops?session_id=twin')).items).toEqual([]);
  });

  it('stands in no metric, by name', async () => {
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toContain('observatory_');
    expect(metrics).not.toMatch(/\bblue\b|word-of-red/);
  });
});
