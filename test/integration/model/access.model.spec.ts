/**
 * Whoever makes, rotates and ends tokens, keys and logins, and however often the gateway goes down: each of them may at every
 * moment what its role, tenants and agents allow while it is in force, and nothing before or after; what is listed and audited is
 * what was done; a secret is shown once, to whoever made it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { Agent as Connections, request } from 'node:http';
import { join } from 'node:path';
import fc from 'fast-check';
import { io, type Socket } from 'socket.io-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildDecisionLog, ScriptedUpstream } from '#testing';
import { type RunningGateway, startGateway } from '../start-gateway.js';
import { upstreamsAt } from '../start-one-gateway.js';
import { ask, ChatVendor } from './proxied-chat.js';
import { command, type Ending, MODEL_TIMEOUT_MS, runModel, soon, times } from './run-model.js';

type Json = Record<string, any>;

const TENANTS = ['default', 'red', 'blue'] as const;
const ALL = '*';
const PEOPLE = ['ada', 'ben'] as const;
/** What a step, or a call, may name. */
const AGENTS = ['one', 'two'] as const;
/** What the environment may say, at one start or another. */
const ENV_TOKENS = ['chosen-token-of-spring-01', 'chosen-token-of-autumn-02'] as const;
const ENV_KEYS = ['agents-password-of-spring-01', 'agents-password-of-autumn-02'] as const;
const MAY: Record<string, readonly string[]> = {
  viewer: ['observe'],
  operator: ['observe', 'command'],
  admin: ['observe', 'command', 'configure', 'manage_access'],
};
const ROLES = Object.keys(MAY);
/** Of each kind, in one run. */
const KEPT_MAX = 10;
/** A gateway lets ten wrong logins a minute pass. */
const WRONG_LOGINS_MAX = 9;

interface Operator {
  kind: 'operator';
  id: string;
  name: string;
  role: string;
  tenants: readonly string[];
  by: string;
  secret: string;
  isLive: boolean;
}
interface Login {
  kind: 'login';
  of: Operator;
  person: string;
  tenant: string;
  secret: string;
  isLive: boolean;
}
interface Key {
  kind: 'key';
  id: string;
  name: string;
  /** The first is its own. */
  tenants: readonly string[];
  agents: readonly string[] | null;
  by: string;
  secret: string;
  isLive: boolean;
}
/** What was never given out, or holds no longer. */
interface Stranger {
  kind: 'stranger';
  secret: string;
}
type Caller = Operator | Login | Key | Stranger;
interface OpenSocket {
  of: Operator | Login | Key;
  socket: Socket;
}
interface Settings {
  token: string | null;
  key: string | null;
  isReset: boolean;
}

class Model {
  readonly operators: Operator[] = [];
  readonly keys: Key[] = [];
  readonly logins: Login[] = [];
  readonly altered: string[] = [];
  sockets: OpenSocket[] = [];
  /** By tenant: who, act and of what. */
  readonly audit: Record<string, string[]> = { default: [], red: [], blue: [] };
  /** Of the process that runs, and of the next. */
  settings: Settings = { token: null, key: null, isReset: false };
  /** That this process knows. */
  knownKey: string | null = null;
  wrongLogins = 0;
  #serial = 0;

  next(): number {
    this.#serial += 1;
    return this.#serial;
  }

  get strangers(): Stranger[] {
    const given = [...this.operators, ...this.keys].map(({ secret }) => secret);
    const past = [...ENV_TOKENS, ...ENV_KEYS].filter((secret) => !given.includes(secret));
    return [...past, ...this.altered].map((secret) => ({ kind: 'stranger', secret }));
  }

  get callers(): Caller[] {
    return [...this.operators, ...this.logins, ...this.keys, ...this.strangers];
  }

  get heads(): Operator[] {
    return this.operators.filter(
      ({ isLive, role, tenants }) => isLive && role === 'admin' && tenants.includes(ALL),
    );
  }

  /** There is one always. */
  get head(): Operator {
    const [head] = this.heads;
    if (head === undefined) throw new Error('Nobody is left who may give access.');
    return head;
  }

  /** Known from now on as something that is like it and is nothing. */
  alter(secret: string): void {
    const at = secret.length - 1 - (this.next() % 8);
    const other = secret[at] === 'x' ? 'y' : 'x';
    this.altered.push(secret.slice(0, at) + other + secret.slice(at + 1));
    if (this.altered.length > 3) this.altered.shift();
  }

  end(operator: Operator): void {
    operator.isLive = false;
    for (const login of this.logins) if (login.of === operator) login.isLive = false;
  }
}

const mayActFor = (tenants: readonly string[], tenant: string): boolean =>
  tenants.includes(ALL) || tenants.includes(tenant);
const covers = (outer: readonly string[], inner: readonly string[]): boolean =>
  outer.includes(ALL) || inner.every((one) => outer.includes(one));
const homeOf = (tenants: readonly string[]): string =>
  mayActFor(tenants, 'default') ? 'default' : (tenants[0] as string);

/** As whom it acts; a number: how it is refused wherever operators come in. */
interface Standing {
  role: string;
  tenants: readonly string[];
  tenant: string;
  person: string;
}
function standingOf(caller: Caller, person: string, asked?: string): Standing | number {
  if (caller.kind === 'stranger') return 401;
  if (!caller.isLive) return 401;
  if (caller.kind === 'key') return 403;
  const { role, tenants } = caller.kind === 'login' ? caller.of : caller;
  const tenant = asked ?? (caller.kind === 'login' ? caller.tenant : homeOf(tenants));
  if (!mayActFor(tenants, tenant)) return 403;
  return { role, tenants, tenant, person: caller.kind === 'login' ? caller.person : person };
}
/** Of what takes the permission; `done` where it has it. */
const answerTo = (standing: Standing | number, permission: string, done: number): number =>
  typeof standing === 'number' ? standing : MAY[standing.role]?.includes(permission) ? done : 403;

const keyLine = ({ id, name, tenants, agents, by, isLive }: Key): string =>
  `${id} ${name} ${tenants} ${agents ?? 'any'} ${by} ${isLive}`;
const operatorLine = ({ id, name, role, tenants, by, isLive }: Operator): string =>
  `${id} ${name} ${role} ${tenants} ${by} ${isLive}`;
const shownKey = (key: Json): string =>
  `${key.key_id} ${key.name} ${key.tenant_ids ?? key.tenant_id} ${key.agent_ids ?? 'any'} ${key.created_by} ${key.revoked_at_ms === null}`;
const shownOperator = (one: Json): string =>
  `${one.token_id} ${one.name} ${one.role} ${one.tenant_ids} ${one.created_by} ${one.revoked_at_ms === null}`;
const shownAudit = ({ items }: Json): string[] =>
  items
    .map(
      ({ operator_id, action, detail, outcome }: Json) =>
        `${operator_id} ${action} ${detail.key_id ?? detail.token_id} ${outcome}`,
    )
    .reverse();

const keysOf = (model: Model, { tenant, tenants }: Standing): string[] =>
  model.keys
    .filter((key) => key.tenants[0] === tenant && covers(tenants, key.tenants))
    .map(keyLine)
    .sort();
const operatorsOf = (model: Model, { tenants }: Standing): string[] =>
  model.operators
    .filter((one) => covers(tenants, one.tenants))
    .map(operatorLine)
    .sort();
const tenantsOf = (model: Model, { tenant, tenants }: Standing): string[] => {
  const known = model.keys.flatMap((key) => key.tenants).filter((one) => mayActFor(tenants, one));
  return [...new Set([...known, tenant])].sort();
};

let upstream: ScriptedUpstream;
let gateway: RunningGateway | null = null;
beforeAll(async () => {
  upstream = await new ScriptedUpstream().listen();
  upstream.script(new ChatVendor().script);
});
afterAll(async () => {
  await gateway?.stop();
  await upstream.close();
});

interface Asked {
  person?: string;
  tenant?: string | undefined;
  headers?: Record<string, string>;
  body?: unknown;
}

class Real {
  /** Everything that ever let somebody in, or was meant to. */
  readonly secrets = new Set<string>([...ENV_TOKENS, ...ENV_KEYS]);
  /** A connection of each key that says the same head again and again. */
  readonly #lanes = new Map<string, Connections>();

  constructor(readonly model: Model) {}

  get gateway(): RunningGateway {
    return gateway as RunningGateway;
  }

  keep(secret: string): string {
    this.secrets.add(secret);
    return secret;
  }

  /** @param shown a secret that belongs there */
  requireSecrecy(text: string, shown: string | null = null): void {
    for (const secret of this.secrets) if (secret !== shown) expect(text).not.toContain(secret);
  }

  headersOf(caller: Caller, { person = PEOPLE[0], tenant, headers = {} }: Asked): Record<string, string> {
    return {
      ...(caller.kind === 'login'
        ? { cookie: `observatory_session=${caller.secret}`, 'sec-fetch-site': 'same-origin' }
        : { authorization: `Bearer ${caller.secret}`, 'x-observatory-operator-id': person }),
      ...(tenant !== undefined && { 'x-tenant-id': tenant }),
      ...headers,
    };
  }

  async send(caller: Caller | null, method: string, path: string, asked: Asked = {}) {
    const { body } = asked;
    const response = await fetch(this.gateway.url + path, {
      method,
      headers: {
        ...(caller === null ? asked.headers : this.headersOf(caller, asked)),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const read: Json = text.startsWith('{') ? JSON.parse(text) : {};
    const { secret = null } = read;
    this.requireSecrecy(text, secret ?? read.agent_key ?? null);
    if (secret !== null) expect(text.split(secret)).toHaveLength(2);
    return { status: response.status, body: read, headers: response.headers };
  }

  /** One DecisionLog; over a connection that is kept, in the very words of the one before. */
  step(caller: Caller, agent: string, isPlain: boolean): Promise<number> {
    const { secret } = caller;
    const session_id = `of-${caller.kind === 'key' ? caller.tenants[0] : 'nobody'}`;
    const log = buildDecisionLog({ meta: { session_id }, identity: { agent_id: agent } } as never);
    const body = JSON.stringify(log);
    let lane = this.#lanes.get(secret);
    if (lane === undefined) {
      lane = new Connections({ keepAlive: true, maxSockets: 1 });
      this.#lanes.set(secret, lane);
    }
    return new Promise((settle, fail) => {
      const sent = request(`${this.gateway.url}/v1/decision-logs`, {
        method: 'POST',
        agent: isPlain ? lane : false,
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          ...(!isPlain && { te: 'trailers' }),
        },
      });
      sent.once('error', fail);
      sent.once('response', (response) => {
        response.resume().once('end', () => settle(response.statusCode as number));
      });
      sent.end(body);
    });
  }

  call(secret: string, agent: string, tenant?: string): Promise<string> {
    const headers = {
      authorization: `Bearer ${secret}`,
      ...(tenant !== undefined && { 'x-tenant-id': tenant }),
    };
    return ask(`${this.gateway.url}/agents/${agent}`, headers, { id: `q${this.model.next()}` });
  }

  /** The socket, once it is let in; the reason where it is not. */
  connect(namespace: string, caller: Caller, tenant?: string): Promise<Socket | string> {
    const isLogin = caller.kind === 'login';
    const socket = io(this.gateway.url + namespace, {
      transports: ['websocket'],
      reconnection: false,
      forceNew: true,
      auth: {
        ...(!isLogin && (namespace === '/live' ? { token: caller.secret } : { key: caller.secret })),
        ...(tenant !== undefined && { tenant_id: tenant }),
      },
      ...(isLogin && { extraHeaders: this.headersOf(caller, {}) }),
    });
    return new Promise((settle) => {
      socket.once('connect', () => settle(socket));
      socket.once('connect_error', (error: Error & { data?: Json }) => {
        socket.close();
        settle(error.data?.reason ?? error.message);
      });
    });
  }

  async letIn(namespace: string, caller: Caller, tenant?: string): Promise<number> {
    const found = await this.connect(namespace, caller, tenant);
    if (typeof found === 'string') return found === 'unauthorized' ? 401 : 403;
    if (namespace === '/live') {
      const ack = await found.timeout(30_000).emitWithAck('subscribe', { topic: 'gateway:sessions' });
      expect(ack.status).toBe('ok');
    }
    found.close();
    return 200;
  }

  hangUp(): void {
    for (const lane of this.#lanes.values()) lane.destroy();
    this.#lanes.clear();
  }

  /** Of what runs no more: nothing is written that lets anybody in, but what the first start tells whoever started it. */
  requireSecrecyOnDisk(): void {
    const { dataDir } = this.gateway;
    const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    expect(files.map(({ name }) => name)).toContain('secret.key');
    for (const file of files) {
      const bytes = readFileSync(join(file.parentPath, file.name));
      for (const secret of this.secrets) expect(bytes.includes(secret), `${file.name}`).toBe(false);
    }
  }
}

/** Why a change is refused that nobody puts a name to, or that another page asks for. */
const UNPROVEN = {
  operator: 'missing_operator_id',
  login: 'origin_refused',
  key: 'forbidden',
  stranger: 'unauthorized',
} as const;

/** All that a caller may and may not, and what it is shown. */
async function probe(
  model: Model,
  real: Real,
  caller: Caller,
  tenant: string | undefined,
  agent: string,
): Promise<void> {
  const person = PEOPLE[1];
  const standing = standingOf(caller, person, tenant);
  const answers = (permission: string, done = 200) => answerTo(standing, permission, done);
  const send = (method: string, path: string, asked: Asked = {}) =>
    real.send(caller, method, path, { person, tenant, ...asked });
  const isKey = caller.kind === 'key' && caller.isLive;
  const speaksFor = (name: string) =>
    caller.kind === 'key' && (caller.agents === null || caller.agents.includes(name));
  const ofKey = (done: number) => (!isKey ? 401 : speaksFor(agent) ? done : 403);
  const isOther = isKey && tenant !== undefined && !caller.tenants.includes(tenant);
  const proxied = !isKey ? 'unauthorized' : isOther || !speaksFor(agent) ? 'forbidden' : 'answered';
  const withAudit = answers('observe') === 200 ? (standing as Standing) : null;
  const withLists = answers('manage_access') === 200 ? (standing as Standing) : null;
  const isTold =
    withLists !== null &&
    withLists.tenant === 'default' &&
    model.keys.some(({ isLive, secret }) => isLive && secret === model.knownKey);
  const own = withAudit?.tenant ?? (isKey ? caller.tenants[0] : null) ?? null;
  const list = async (path: string, line: (one: any) => string) => {
    const { status, body } = await send('GET', path);
    return status === 200 ? body.items.map(line).sort() : status;
  };
  const seen = {
    sessions: await send('GET', '/v1/sessions').then(({ status, body }) =>
      status === 200
        ? body.items
            .map(({ session_id }: Json) => session_id)
            .filter((id: string) => id.startsWith('of-') && id !== `of-${own}`)
        : status,
    ),
    me: await send('GET', '/v1/auth/me').then(({ status, body }) =>
      status === 200
        ? `${body.operator_id} ${body.role} ${body.tenant_id} ${body.tenant_ids} ${body.permissions}`
        : status,
    ),
    pause: (await send('POST', '/v1/sessions/none/pause', { body: {} })).status,
    unproven: await real
      .send(caller.kind === 'login' ? caller : null, 'POST', '/v1/sessions/none/pause', {
        body: {},
        headers:
          caller.kind === 'login'
            ? { 'sec-fetch-site': 'cross-site' }
            : { authorization: `Bearer ${caller.secret}` },
      })
      .then(({ body }) => body.reason),
    config: (await send('PATCH', '/v1/config', { body: { no_such: 1 } })).status,
    keys: await list('/v1/agent-keys', shownKey),
    operators: await list('/v1/operators', shownOperator),
    tenants: await list('/v1/tenants', String),
    audit: await send('GET', '/v1/audit?limit=500').then(({ status, body }) =>
      status === 200 ? shownAudit(body) : status,
    ),
    onboarding: await send('GET', '/v1/onboarding').then(({ status, body }) =>
      status === 200 ? body.agent_key : status,
    ),
    metrics: (await send('GET', '/metrics', { headers: { 'x-forwarded-for': '192.0.2.1' } })).status,
    control: (await send('GET', '/v1/sessions/none/control?after=0')).status,
    acknowledge: await real.step(caller, agent, false),
    lane: await real.step(caller, agent, true),
    proxied: await real.call(caller.secret, agent, tenant),
    live: await real.letIn('/live', caller, tenant),
    agents: await real.letIn('/agents', caller),
  };
  const isNobody = standing === 401;
  expect(seen, `${JSON.stringify(caller)} for ${tenant}`).toEqual({
    sessions: own === null ? answers('observe') : [],
    me:
      typeof standing === 'number'
        ? standing
        : `${standing.person} ${standing.role} ${standing.tenant} ${standing.tenants} ${MAY[standing.role]}`,
    pause: answers('command', 404),
    unproven: UNPROVEN[isNobody ? 'stranger' : caller.kind],
    config: answers('configure', withLists?.tenants.includes(ALL) ? 422 : 403),
    keys: withLists === null ? answers('manage_access') : keysOf(model, withLists),
    operators: withLists === null ? answers('manage_access') : operatorsOf(model, withLists),
    tenants: withLists === null ? answers('manage_access') : tenantsOf(model, withLists),
    audit: withAudit === null ? answers('observe') : model.audit[withAudit.tenant],
    onboarding: withAudit === null ? answers('observe') : isTold ? model.knownKey : null,
    metrics: answers('observe'),
    control: isKey ? 200 : answers('observe'),
    acknowledge: ofKey(202),
    lane: ofKey(202),
    proxied,
    live: answers('observe'),
    agents: isKey ? 200 : 401,
  });
}

/** What holds of everybody, after each act. */
async function agree(model: Model, real: Real): Promise<void> {
  const { head } = model;
  const look = async (path: string, tenant: string) => (await real.send(head, 'GET', path, { tenant })).body;
  for (const tenant of TENANTS) {
    const [keys, audit] = await Promise.all([
      look('/v1/agent-keys', tenant),
      look('/v1/audit?limit=500', tenant),
    ]);
    const standing = standingOf(head, PEOPLE[0], tenant) as Standing;
    expect(keys.items.map(shownKey).sort()).toEqual(keysOf(model, standing));
    expect(shownAudit(audit)).toEqual(model.audit[tenant]);
  }
  const { items } = await look('/v1/operators', 'default');
  expect(items.map(shownOperator).sort()).toEqual(model.operators.map(operatorLine).sort());
  for (const { of, socket } of model.sockets)
    expect(await isAnswered(of, socket), `socket of ${JSON.stringify(of)}`).toBe(of.isLive);
  model.sockets = model.sockets.filter(({ of }) => of.isLive);
}

/** What was cut before the act was answered says so before it answers anything. */
function isAnswered({ kind }: Caller, socket: Socket): Promise<boolean> {
  const [event, body] =
    kind === 'key' ? ['watch_control', { session_id: 'none' }] : ['subscribe', { topic: 'gateway:sessions' }];
  return new Promise((settle) => {
    if (!socket.connected) settle(false);
    socket.once('disconnect', () => settle(false));
    socket.emit(event as string, body, () => settle(true));
  });
}

async function agreeInAll(model: Model, real: Real): Promise<void> {
  await agree(model, real);
  const probing = model.callers.map((caller, at) => {
    const tenant = [undefined, ...TENANTS][at % 4];
    return probe(model, real, caller, tenant, AGENTS[at % 2] as string);
  });
  await Promise.all(probing);
  for (const tenant of TENANTS) {
    const { body } = await real.send(model.head, 'GET', '/v1/audit/verify', { tenant });
    expect(body.ok).toBe(true);
  }
}

const rowOf = <Row extends { id: string }>(rows: readonly Row[], id: string): Row | undefined =>
  rows.find((one) => one.id === id);

/** What a start does to access, as the model has it. @param told by its banner */
function begun(
  model: Model,
  { token, key, isReset }: Settings,
  told: { token?: string; key?: string },
): void {
  const from = { id: 'env', name: 'environment', by: 'system' };
  const operator = rowOf(model.operators, 'env');
  if (operator !== undefined && (token === null || token !== operator.secret)) model.end(operator);
  if (token !== null && operator === undefined)
    model.operators.push({
      ...from,
      kind: 'operator',
      role: 'admin',
      tenants: [ALL],
      secret: token,
      isLive: true,
    });
  else if (token !== null) Object.assign(operator as Operator, { secret: token, isLive: true });
  const agentKey = rowOf(model.keys, 'env');
  if (agentKey !== undefined && key === null) agentKey.isLive = false;
  if (key !== null && agentKey === undefined)
    model.keys.push({ ...from, kind: 'key', tenants: ['default'], agents: null, secret: key, isLive: true });
  else if (key !== null) Object.assign(agentKey as Key, { secret: key, isLive: true });

  model.knownKey = key;
  const isMade = model.heads.length === 0 || isReset;
  expect(told.token !== undefined).toBe(isMade);
  if (isMade) {
    const earlier = model.operators.filter(({ id, by, isLive }) => by === 'system' && id !== 'env' && isLive);
    const made = { kind: 'operator', id: '?', name: 'admin', role: 'admin', tenants: [ALL] } as const;
    model.operators.push({ ...made, by: 'system', secret: told.token as string, isLive: true });
    model.audit.default?.push('system operator.create ? ok');
    for (const one of earlier) {
      model.end(one);
      model.audit.default?.push(`system operator.revoke ${one.id} ok`);
    }
  }
  const isKeyMade = model.keys.every(({ id, isLive }) => id === 'env' && !isLive);
  expect(told.key !== undefined).toBe(isKeyMade);
  if (told.key !== undefined) {
    const made = { kind: 'key', id: '?', name: 'default', tenants: ['default'], agents: null } as const;
    model.keys.push({ ...made, by: 'system', secret: told.key, isLive: true });
    model.audit.default?.push('system agent_key.create ? ok');
    model.knownKey = told.key;
  }
}

async function start(model: Model, real: Real, dataDir?: string): Promise<void> {
  const { settings } = model;
  const { token, key, isReset } = settings;
  gateway = await startGateway({
    ...(dataDir !== undefined && { dataDir }),
    env: {
      ...upstreamsAt(upstream.origin),
      OBSERVATORY_OPERATOR_TOKEN: token ?? '',
      OBSERVATORY_AGENT_KEY: key ?? '',
      OBSERVATORY_RESET_OPERATOR_TOKEN: isReset ? '1' : '0',
    },
  });
  await soon(() => real.gateway.output()).toMatch(/\/proxy\/gemini|made and revoked under Settings/);
  const output = real.gateway.output();
  real.requireSecrecy(output);
  const told = {
    token: /login#token=(\S+)/.exec(output)?.[1],
    key: /Bearer (obs_agent_[\w-]+)"/.exec(output)?.[1],
  } as { token?: string; key?: string };
  begun(model, settings, told);
  await nameWhatWasMade(model, real);
  for (const secret of Object.values(told)) if (secret !== undefined) real.keep(secret);
  model.settings = { ...settings, isReset: false };
  model.wrongLogins = 0;
  model.sockets = [];
}

/** Their ids are known from lists alone. */
async function nameWhatWasMade(model: Model, real: Real): Promise<void> {
  const known = [...model.operators, ...model.keys].map(({ id }) => id);
  const { head } = model;
  const ask = async (path: string) => (await real.send(head, 'GET', path)).body.items as Json[];
  for (const row of [...model.operators, ...model.keys]) {
    if (row.id !== '?') continue;
    const items = await ask(row.kind === 'key' ? '/v1/agent-keys' : '/v1/operators');
    const ids = items.map(({ key_id, token_id }) => key_id ?? token_id).filter((id) => !known.includes(id));
    expect(ids).toHaveLength(1);
    row.id = ids[0];
    const act = row.kind === 'key' ? 'agent_key' : 'operator';
    const lines = model.audit.default as string[];
    lines[lines.indexOf(`system ${act}.create ? ok`)] = `system ${act}.create ${row.id} ok`;
  }
}

async function restart(model: Model, real: Real, how: Ending): Promise<void> {
  const { dataDir } = real.gateway;
  const before = model.sockets;
  await real.gateway[how]();
  real.hangUp();
  for (const { socket } of before) socket.close();
  requireSecretsOnce(real);
  real.requireSecrecyOnDisk();
  await start(model, real, dataDir);
  await agreeInAll(model, real);
}

/** What a process has told whoever started it, it told once. */
function requireSecretsOnce(real: Real): void {
  const output = real.gateway.output();
  const told = [/login#token=(\S+)/, /Bearer (obs_agent_[\w-]+)"/].map((one) => one.exec(output)?.[1]);
  for (const secret of real.secrets)
    expect(output.split(secret).length - 1).toBe(told.includes(secret) ? 1 : 0);
}

const record: typeof fc.record = (model: any) => fc.record(model, { noNullPrototype: true }) as any;
const nat = fc.nat({ max: 999 });
const pickOf = <One>(all: readonly One[], pick: number): One => all[pick % all.length] as One;
const who = record({
  isAble: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.boolean()),
  pick: nat,
  person: fc.constantFrom(...PEOPLE),
  tenant: fc.constantFrom(undefined, undefined, ...TENANTS),
});
type Who = { isAble: boolean; pick: number; person: string; tenant: string | undefined };
const agent = fc.constantFrom(...AGENTS);

/** Somebody who may give access, or anybody. */
function callerOf(model: Model, { isAble, pick }: Who): Caller {
  const able = [...model.operators, ...model.logins].filter(
    (one) => one.isLive && (one.kind === 'login' ? one.of : one).role === 'admin',
  );
  return pickOf(isAble ? able : model.callers, pick);
}
const acting = (model: Model, who: Who): { caller: Caller; standing: Standing | number } => {
  const caller = callerOf(model, who);
  return { caller, standing: standingOf(caller, who.person, who.tenant) };
};

/** Who may give access, and of whom another is left to say who may. */
const endable = ({ operators, head }: Readonly<Model>): Operator[] =>
  operators.filter((one) => one.isLive && one.role === 'admin' && one !== head);

function noteOperator(model: Model, real: Real, { person, tenant }: Standing, made: Json): Operator {
  const { operator, secret } = made;
  const row: Operator = {
    kind: 'operator',
    id: operator.token_id,
    name: operator.name,
    role: operator.role,
    tenants: operator.tenant_ids,
    by: person,
    secret: real.keep(secret),
    isLive: true,
  };
  model.operators.push(row);
  model.audit[tenant]?.push(`${person} operator.create ${row.id} ok`);
  model.alter(secret);
  return row;
}

function noteKey(model: Model, real: Real, { person }: Standing, made: Json): Key {
  const { key, secret } = made;
  const row: Key = {
    kind: 'key',
    id: key.key_id,
    name: key.name,
    tenants: key.tenant_ids ?? [key.tenant_id],
    agents: key.agent_ids ?? null,
    by: person,
    secret: real.keep(secret),
    isLive: true,
  };
  model.keys.push(row);
  model.audit[key.tenant_id]?.push(`${person} agent_key.create ${row.id} ok`);
  model.alter(secret);
  return row;
}

const tenantIds = fc.constantFrom<readonly string[] | undefined>(
  undefined,
  ['red'],
  ['blue'],
  ['red', 'blue'],
  ['default', 'red'],
);

const kinds = [
  ...times(
    3,
    command(
      'make operator',
      record({
        who,
        role: fc.constantFrom(...ROLES, 'admin'),
        tenants: fc.oneof(tenantIds, fc.constant<readonly string[]>([ALL])),
      }),
      async (model: Model, real: Real, { who, role, tenants }) => {
        const { caller, standing } = acting(model, who);
        const body = {
          name: `operator ${model.next()}`,
          role,
          ...(tenants !== undefined && { tenant_ids: tenants }),
        };
        let expected = answerTo(standing, 'manage_access', 201);
        const asked = tenants ?? (typeof standing === 'number' ? [] : [standing.tenant]);
        if (expected === 201 && !covers((standing as Standing).tenants, asked)) expected = 403;
        const answer = await real.send(caller, 'POST', '/v1/operators', { ...who, body });
        expect(answer.status).toBe(expected);
        if (expected === 201) {
          expect(answer.body.operator).toMatchObject({ name: body.name, role, tenant_ids: asked });
          const made = noteOperator(model, real, standing as Standing, answer.body);
          await probe(model, real, made, undefined, AGENTS[0]);
        }
        await agree(model, real);
      },
      (model) => model.operators.length < KEPT_MAX,
    ),
  ),
  ...times(
    3,
    command(
      'make key',
      record({
        who,
        of: fc.constantFrom(undefined, ...TENANTS),
        tenants: fc.oneof(fc.constant(undefined), tenantIds),
        agents: fc.constantFrom<readonly string[] | undefined>(undefined, ['one'], ['two', 'one']),
      }),
      async (model: Model, real: Real, { who, of, tenants, agents }) => {
        const { caller, standing } = acting(model, who);
        const body = {
          name: `key-${model.next()}`,
          ...(of !== undefined && { tenant_id: of }),
          ...(tenants !== undefined && { tenant_ids: tenants }),
          ...(agents !== undefined && { agent_ids: agents }),
        };
        let expected = answerTo(standing, 'manage_access', 201);
        const own = of ?? (typeof standing === 'number' ? '' : standing.tenant);
        const asked = [...new Set([own, ...(tenants ?? [])])];
        if (expected === 201 && !covers((standing as Standing).tenants, asked)) expected = 403;
        const answer = await real.send(caller, 'POST', '/v1/agent-keys', { ...who, body });
        expect(answer.status).toBe(expected);
        if (expected === 201) {
          const made = noteKey(model, real, standing as Standing, answer.body);
          expect(made).toMatchObject({
            name: body.name,
            tenants: asked,
            agents: agents ?? null,
          });
          await probe(model, real, made, tenants?.[0], AGENTS[1]);
        }
        await agree(model, real);
      },
      (model) => model.keys.length < KEPT_MAX,
    ),
  ),
  ...times(
    3,
    command(
      'revoke operator',
      record({ who, pick: nat }),
      async (model: Model, real: Real, { who, pick }) => {
        const { caller, standing } = acting(model, who);
        const row = pickOf(model.operators, pick);
        const isLast = row.isLive && model.heads.length === 1 && model.head === row;
        let expected = answerTo(standing, 'manage_access', 200);
        if (expected === 200)
          expected = !covers((standing as Standing).tenants, row.tenants) ? 404 : isLast ? 403 : 200;
        const answer = await real.send(caller, 'DELETE', `/v1/operators/${row.id}`, who);
        expect(answer.status).toBe(expected);
        if (expected === 200 && row.isLive) {
          const { person, tenant } = standing as Standing;
          model.audit[tenant]?.push(`${person} operator.revoke ${row.id} ok`);
          model.end(row);
          for (const login of model.logins.filter(({ of }) => of === row).slice(-1))
            await probe(model, real, login, undefined, AGENTS[0]);
        }
        await probe(model, real, row, who.tenant, AGENTS[0]);
        await agree(model, real);
      },
    ),
  ),
  ...times(
    3,
    command('revoke key', record({ who, pick: nat }), async (model: Model, real: Real, { who, pick }) => {
      const { caller, standing } = acting(model, who);
      const row = pickOf(model.keys, pick);
      const isSeen = typeof standing !== 'number' && covers(standing.tenants, row.tenants);
      const expected = answerTo(standing, 'manage_access', isSeen ? 200 : 404);
      // Its connection is known already, and says the same again afterwards.
      if (row.isLive) await real.step(row, AGENTS[0], true);
      const answer = await real.send(caller, 'DELETE', `/v1/agent-keys/${row.id}`, who);
      expect(answer.status).toBe(expected);
      if (expected === 200 && row.isLive) {
        model.audit[row.tenants[0] as string]?.push(
          `${(standing as Standing).person} agent_key.revoke ${row.id} ok`,
        );
        row.isLive = false;
      }
      await probe(model, real, row, who.tenant, AGENTS[0]);
      await agree(model, real);
    }),
  ),
  ...times(
    3,
    command(
      'log in',
      record({
        pick: nat,
        isWrong: fc.constantFrom(false, false, false, true),
        person: fc.constantFrom(...PEOPLE),
      }),
      async (model: Model, real: Real, { pick, isWrong, person }) => {
        const live = model.operators.filter(({ isLive }) => isLive);
        const of: Caller = isWrong
          ? pickOf(
              model.callers.filter((one) => one.kind !== 'operator' || !one.isLive),
              pick,
            )
          : pickOf(live, pick);
        const { status, body, headers } = await real.send(null, 'POST', '/v1/auth/login', {
          body: { token: of.secret, operator_id: person },
        });
        expect(status).toBe(isWrong ? 401 : 200);
        if (isWrong) {
          model.wrongLogins += 1;
          expect(headers.get('set-cookie')).toBe(null);
          return;
        }
        const { role, tenants } = of as Operator;
        const tenant = homeOf(tenants);
        expect(body).toMatchObject({ operator_id: person, role, tenant_id: tenant, tenant_ids: tenants });
        const secret = /^observatory_session=([^;]+); .*HttpOnly; SameSite=Strict/.exec(
          String(headers.get('set-cookie')),
        )?.[1] as string;
        const login: Login = {
          kind: 'login',
          of: of as Operator,
          person,
          tenant,
          secret: real.keep(secret),
          isLive: true,
        };
        model.logins.push(login);
        model.alter(secret);
        await probe(model, real, login, undefined, AGENTS[0]);
      },
      (model, { isWrong }) =>
        isWrong ? model.wrongLogins < WRONG_LOGINS_MAX : model.logins.length < KEPT_MAX,
    ),
  ),
  command(
    'log out',
    record({ pick: nat }),
    async (model: Model, real: Real, { pick }) => {
      const login = pickOf(model.logins, pick);
      expect((await real.send(login, 'POST', '/v1/auth/logout')).status).toBe(200);
      login.isLive = false;
      await probe(model, real, login, undefined, AGENTS[0]);
      await agree(model, real);
    },
    (model) => model.logins.length > 0,
  ),
  ...times(
    2,
    command(
      'act for another tenant',
      record({ pick: nat, tenant: fc.constantFrom(...TENANTS) }),
      async (model: Model, real: Real, { pick, tenant }) => {
        const login = pickOf(model.logins, pick);
        const may = mayActFor(login.of.tenants, tenant);
        const { status } = await real.send(login, 'POST', '/v1/auth/tenant', { body: { tenant_id: tenant } });
        expect(status).toBe(!login.isLive ? 401 : may ? 200 : 403);
        if (login.isLive && may) login.tenant = tenant;
        await probe(model, real, login, undefined, AGENTS[0]);
      },
      (model) => model.logins.length > 0,
    ),
  ),
  ...times(
    3,
    command(
      'open socket',
      record({ pick: nat }),
      async (model: Model, real: Real, { pick }) => {
        const of = pickOf(
          [...model.operators, ...model.logins, ...model.keys].filter(({ isLive }) => isLive),
          pick,
        );
        const socket = await real.connect(of.kind === 'key' ? '/agents' : '/live', of);
        expect(socket).toBeTypeOf('object');
        model.sockets.push({ of, socket: socket as Socket });
      },
      (model) => model.sockets.length < KEPT_MAX,
    ),
  ),
  ...times(
    2,
    command(
      'look',
      record({ pick: nat, tenant: fc.constantFrom(undefined, ...TENANTS), agent }),
      (model: Model, real: Real, { pick, tenant, agent }) =>
        probe(model, real, pickOf(model.callers, pick), tenant, agent),
    ),
  ),
  command(
    'make keys until revoked',
    record({ pick: nat, person: fc.constantFrom(...PEOPLE) }),
    async (model: Model, real: Real, { pick, person }) => {
      const { head } = model;
      const maker = pickOf(endable(model), pick);
      const tenant = homeOf(maker.tenants);
      const make = async () => {
        const body = { name: `key-${model.next()}` };
        return real.send(maker, 'POST', '/v1/agent-keys', { person: 'eve', tenant, body });
      };
      const making = Array.from({ length: 6 }, make);
      const ended = await real.send(head, 'DELETE', `/v1/operators/${maker.id}`, { person, tenant });
      const answers = await Promise.all(making);
      expect(ended.status).toBe(200);
      model.end(maker);
      const { body } = await real.send(head, 'GET', '/v1/audit?limit=500', { tenant });
      const lines = model.audit[tenant] as string[];
      const seen = shownAudit(body).slice(lines.length);
      for (const { status, body } of answers) {
        expect([201, 401]).toContain(status);
        if (status === 201) noteKey(model, real, { person: 'eve', tenant } as Standing, body);
      }
      // In whatever order they were made, but none once it is revoked.
      lines.push(`${person} operator.revoke ${maker.id} ok`);
      expect([...seen.slice(0, -1).sort(), seen.at(-1)]).toEqual([
        ...lines.slice(-seen.length, -1).sort(),
        lines.at(-1),
      ]);
      lines.splice(-seen.length, seen.length, ...seen);
      await agree(model, real);
    },
    (model) => endable(model).length > 0 && model.keys.length < KEPT_MAX,
  ),
  command(
    'revoke one another',
    record({ person: fc.constantFrom(...PEOPLE) }),
    async (model: Model, real: Real, { person }) => {
      const { heads } = model;
      const answers = await Promise.all(
        heads.map(({ id }, at) =>
          real.send(pickOf(heads, at + 1), 'DELETE', `/v1/operators/${id}`, { person, tenant: 'default' }),
        ),
      );
      for (const [at, { status }] of answers.entries()) {
        expect([200, 401, 403]).toContain(status);
        if (status === 200) model.end(heads[at] as Operator);
      }
      const { body } = await real.send(model.head, 'GET', '/v1/audit?limit=500', { tenant: 'default' });
      const lines = model.audit.default as string[];
      const seen = shownAudit(body).slice(lines.length);
      const ended = heads.filter(({ isLive }) => !isLive);
      expect(seen.toSorted()).toEqual(ended.map(({ id }) => `${person} operator.revoke ${id} ok`).sort());
      lines.push(...seen);
      await agree(model, real);
    },
    (model) => model.heads.length > 1,
  ),
  command(
    'revoke the last who may act for all',
    record({ person: fc.constantFrom(...PEOPLE) }),
    async (model: Model, real: Real, { person }) => {
      const { head } = model;
      expect((await real.send(head, 'DELETE', `/v1/operators/${head.id}`, { person })).status).toBe(403);
      await agree(model, real);
    },
    (model) => model.heads.length === 1,
  ),
  command(
    'set environment',
    record({
      token: fc.constantFrom(null, ...ENV_TOKENS),
      key: fc.constantFrom(null, ...ENV_KEYS),
      isReset: fc.boolean(),
      how: fc.constantFrom<Ending>('stop', 'kill'),
    }),
    async (model: Model, real: Real, { how, ...settings }) => {
      model.settings = settings;
      await restart(model, real, how);
    },
  ),
];

async function begin(): Promise<{ model: Model; real: Real }> {
  await gateway?.stop();
  const model = new Model();
  const real = new Real(model);
  await start(model, real);
  const make = async (path: string, body: object) =>
    (await real.send(model.head, 'POST', path, { tenant: 'red', body })).body;
  const standing = standingOf(model.head, PEOPLE[0], 'red') as Standing;
  for (const tenant_ids of [['red'], ['red', 'blue']]) {
    const operator = await make('/v1/operators', { name: `of ${tenant_ids}`, role: 'admin', tenant_ids });
    noteOperator(model, real, standing, operator);
    noteKey(model, real, standing, await make('/v1/agent-keys', { name: 'key', tenant_ids }));
  }
  return { model, real };
}

test(
  'whoever gives and takes access: each secret opens what it should while it holds, nothing else, and is shown once',
  { timeout: MODEL_TIMEOUT_MS },
  () => runModel(kinds, 2, begin, restart),
);
