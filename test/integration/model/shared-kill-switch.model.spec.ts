/**
 * Kill switches at two gateways on one Redis: whoever sets them, stops and lets run, and wherever one fires, both show the same
 * once they have heard. What was asked again each gateway counts by itself, and anew for an agent that was let run; the evidence of
 * what it found stays with it, open for as long as the agent is stopped for it.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ScriptedUpstream } from '#testing';
import { freePort } from '../free-ports.js';
import { type RunningGateway, startGateway } from '../start-gateway.js';
import { upstreamsAt } from '../start-one-gateway.js';
import { type RedisServer, redisMissing, startRedis } from '../start-redis.js';
import { ask, ChatVendor } from './proxied-chat.js';
import { comparing, type Ending, MODEL_TIMEOUT_MS, runModel, soon, times } from './run-model.js';
import { other, SIDES, type Side, TwoGateways } from './two-gateways.js';

type Json = Record<string, any>;

const AGENTS = ['one', 'two'] as const;
type AgentName = (typeof AGENTS)[number];

/** All windows hold more than it takes to pass any threshold. */
const PRESETS = {
  strict: { window_size: 10, threshold: 5 },
  default: { window_size: 20, threshold: 10 },
  tolerant: { window_size: 50, threshold: 20 },
} as const;
const SCOPES = ['session', 'agent'] as const;
type Scope = (typeof SCOPES)[number];
interface Fields {
  active: boolean;
  enabled: boolean;
  threshold: number;
  window_size: number;
  /** Each has windows of its own. */
  scope: Scope;
}
const BEGIN: Fields = { active: true, enabled: true, ...PRESETS.default, scope: 'session' };
type Field = keyof Fields;

const nothingAsked = () => ({ session: { least: 0, most: 0 }, agent: { least: 0, most: 0 } });

/** One agent as one gateway has it. */
class Standing {
  fields: Fields = { ...BEGIN };
  /** What was decided here, in this order, and the other may not have heard. */
  news: Partial<Fields>[] = [];
  /** How often it has asked the same since it was let run; between the two where nobody knows. */
  asked = nothingAsked();
  incidentCount = 0;
  /** Of the incidents here one is open; null: either. */
  isOpen: boolean | null = false;

  decide(decides: Partial<Fields>): void {
    this.news.push(decides);
    this.obey(decides);
  }

  obey({ active, ...rest }: Partial<Fields>): void {
    if (active === true && !this.fields.active) {
      this.asked = nothingAsked();
      this.isOpen = false;
    }
    Object.assign(this.fields, rest, active !== undefined && { active });
  }

  /** Whether it fires at the next of the same. */
  fires(asked: number): boolean {
    return this.fields.enabled && 3 * (asked + 1) - 5 > this.fields.threshold;
  }
}

class Model {
  readonly standings = Object.fromEntries(
    SIDES.map((side) => [side, { one: new Standing(), two: new Standing() }]),
  ) as Record<Side, Record<AgentName, Standing>>;
  isUp: Record<Side, boolean> = { a: true, b: true };
  isRedisThere = true;

  at(side: Side): Side {
    return this.isUp[side] ? side : other(side);
  }
  get areBothUp(): boolean {
    return this.isUp.a && this.isUp.b;
  }
  get up(): Side[] {
    return SIDES.filter((side) => this.isUp[side]);
  }
}

class Real extends TwoGateways {
  readonly keys = {} as Record<Side, string>;

  constructor(run: number) {
    super(`switch-${run}`, (side) => gateways[side].url);
    upstream.script(new ChatVendor().script);
  }

  ask(side: Side, agent: AgentName): Promise<string> {
    const headers = { authorization: `Bearer ${this.keys[side]}`, 'x-observatory-session': agent };
    return ask(`${gateways[side].url}/agents/${agent}`, headers, { id: 'the-same' });
  }
}

async function shown(real: Real, side: Side, agent: AgentName): Promise<Json> {
  const [view, incidents, open] = await Promise.all([
    real.look(side, `/v1/agents/${agent}`),
    real.look(side, `/v1/incidents?agent_id=${agent}&limit=500`),
    real.look(side, `/v1/incidents?agent_id=${agent}&open=true&limit=500`),
  ]);
  const { enabled, threshold, window_size, scope } = view.kill_switch;
  const openId = open.items[0]?.incident_id;
  return {
    fields: { active: view.policy.active, enabled, threshold, window_size, scope },
    incidentCount: incidents.items.length,
    openCount: open.items.length,
    // The other's may be the one that it shows.
    isOwnShown: openId === undefined || typeof view.open_incident_id === 'string',
    isShownOpen: view.policy.active && view.open_incident_id !== null,
  };
}

async function agree(model: Model, real: Real): Promise<void> {
  await settle(model, real);
  for (const side of model.up)
    for (const agent of AGENTS) {
      const { fields, incidentCount, isOpen } = model.standings[side][agent];
      await soon(() => shown(real, side, agent)).toEqual({
        fields,
        incidentCount,
        openCount: isOpen === null ? expect.toBeOneOf([0, 1]) : Number(isOpen),
        isOwnShown: true,
        isShownOpen: false,
      });
    }
}

/** Both hear what was decided at the other, where they can: of two that decided of the same, one is obeyed by both. */
async function settle(model: Model, real: Real): Promise<void> {
  const hasNews = AGENTS.some((agent) => SIDES.some((side) => model.standings[side][agent].news.length > 0));
  if (!model.isRedisThere || !model.areBothUp || !hasNews) return;
  await real.exchange();
  for (const agent of AGENTS) {
    const both = SIDES.map((side) => model.standings[side][agent]) as [Standing, Standing];
    const [a, b] = both.map(({ news }) => news) as [Partial<Fields>[], Partial<Fields>[]];
    const latest = both.map(({ news }) => Object.assign({}, ...news) as Partial<Fields>);
    const isOf = (field: Field) => latest.every((one) => one[field] !== undefined);
    const seen = (await shown(real, 'a', agent)).fields as Fields;
    for (const [at, standing] of both.entries()) {
      for (const { ...heard } of at === 0 ? b : a) {
        for (const field of Object.keys(heard) as Field[])
          if (isOf(field)) {
            if (field === 'active') {
              for (const scope of SCOPES) standing.asked[scope].least = 0;
              standing.isOpen &&= null;
            }
            delete heard[field];
          }
        standing.obey(heard);
      }
      for (const field of Object.keys(BEGIN) as Field[])
        if (isOf(field)) {
          expect(latest.map((one) => one[field])).toContain(seen[field]);
          Object.assign(standing.fields, { [field]: seen[field] });
        }
      if (standing.fields.active) standing.isOpen = false;
      standing.news = [];
    }
  }
}

const act = comparing<Model, Real>(agree);
const record: typeof fc.record = (model: any) => fc.record(model, { noNullPrototype: true }) as any;
const side = fc.constantFrom(...SIDES);
const agent = fc.constantFrom(...AGENTS);
const patch: fc.Arbitrary<Json> = fc.oneof(
  record({ enabled: fc.boolean() }),
  record({ threshold: fc.constantFrom(4, 16) }),
  record({ window_size: fc.constantFrom(15, 30) }),
  record({ scope: fc.constantFrom(...SCOPES) }),
  record({ preset: fc.constantFrom(...(Object.keys(PRESETS) as (keyof typeof PRESETS)[])) }),
  record({ preset: fc.constantFrom('strict', 'tolerant'), threshold: fc.constantFrom(4, 16) }),
);
const fieldsOf = ({ preset, ...fields }: Json): Partial<Fields> => ({
  ...(preset && PRESETS[preset as keyof typeof PRESETS]),
  ...fields,
});

async function command(
  model: Model,
  real: Real,
  { side, agent, does }: { side: Side; agent: AgentName; does: 'stop' | 'let run' | Json },
): Promise<void> {
  const at = model.at(side);
  const [method, path, body, decides] =
    does === 'stop'
      ? ['POST', 'deactivate', { reason: 'enough' }, { active: false }]
      : does === 'let run'
        ? ['POST', 'reactivate', {}, { active: true }]
        : ['PATCH', 'kill-switch', does as Json, fieldsOf(does as Json)];
  const answer = await real.as(at)(method as string, `/v1/agents/${agent}/${path}`, body as object);
  expect(answer.status).toBe(200);
  model.standings[at][agent].decide(decides as Partial<Fields>);
}

const does = fc.oneof(
  { weight: 2, arbitrary: fc.constant('stop' as const) },
  { weight: 4, arbitrary: fc.constant('let run' as const) },
  { weight: 4, arbitrary: patch },
);

const kinds = [
  ...times(8, act('asks the same', record({ side, agent, count: fc.integer({ min: 1, max: 5 }) }), askAgain)),
  ...times(6, act('command', record({ side, agent, does }), command)),
  // Before either has heard.
  ...times(
    3,
    act(
      'contradict',
      record({ agent, first: does, second: does }),
      async (model, real, { agent, first, second }) => {
        await command(model, real, { side: 'a', agent, does: first });
        await command(model, real, { side: 'b', agent, does: second });
      },
    ),
  ),
  act(
    'Redis goes',
    fc.constant(null),
    async (model) => {
      model.isRedisThere = false;
      await redis.kill();
    },
    ({ isRedisThere, areBothUp }) => isRedisThere && areBothUp,
  ),
  ...times(
    2,
    act('Redis comes', fc.constant(null), redisComes, ({ isRedisThere }) => !isRedisThere),
  ),
  act(
    'gateway ends',
    record({ side, how: fc.constantFrom<Ending>('stop', 'kill') }),
    async (model, _real, { side, how }) => {
      await gateways[side][how]();
      model.isUp[side] = false;
    },
    ({ isRedisThere, areBothUp }) => isRedisThere && areBothUp,
  ),
  ...times(
    3,
    act('gateway starts', fc.constant(null), startGateways, ({ areBothUp }) => !areBothUp),
  ),
];

async function askAgain(
  model: Model,
  real: Real,
  given: { side: Side; agent: AgentName; count: number },
): Promise<void> {
  const { agent, count } = given;
  const at = model.at(given.side);
  const standing = model.standings[at][agent];
  for (let times = 0; times < count; times += 1) {
    const { fields } = standing;
    const asked = standing.asked[fields.scope];
    const outcome = await real.ask(at, agent);
    if (!fields.active) {
      expect(outcome).toBe('agent_inactive');
      return;
    }
    const may = [asked.least, asked.most].map((one) => (standing.fires(one) ? 'killed' : 'answered'));
    expect(may).toContain(outcome);
    if (outcome === 'killed') {
      standing.decide({ active: false });
      standing.incidentCount += 1;
      standing.isOpen = true;
    } else if (fields.enabled)
      standing.asked[fields.scope] = { least: asked.least + 1, most: asked.most + 1 };
  }
}

async function redisComes(model: Model, real: Real): Promise<void> {
  await redis.start();
  model.isRedisThere = true;
  for (const side of model.up) await real.isConnected(side);
}

async function startGateways(model: Model, real: Real): Promise<void> {
  for (const side of SIDES) {
    if (model.isUp[side]) continue;
    const { dataDir, url } = gateways[side];
    gateways[side] = await startGateway({ dataDir, env: { ...env, PORT: new URL(url).port } });
    model.isUp[side] = true;
    for (const agent of AGENTS) {
      const standing = model.standings[side][agent];
      const heard = model.standings[other(side)][agent];
      for (const one of heard.news) standing.obey(one);
      standing.asked = nothingAsked();
      heard.news = [];
    }
    await real.isConnected(side);
  }
}

async function restart(model: Model, real: Real, how: Ending): Promise<void> {
  if (!model.isRedisThere) await redisComes(model, real);
  await startGateways(model, real);
  await agree(model, real);
  await gateways.a[how]();
  model.isUp.a = false;
  await startGateways(model, real);
  await agree(model, real);
}

let redis: RedisServer;
let upstream: ScriptedUpstream;
let env: Record<string, string>;
const gateways = {} as Record<Side, RunningGateway>;
let run = 0;

async function begin(): Promise<{ model: Model; real: Real }> {
  run += 1;
  const model = new Model();
  const real = new Real(run);
  // Whatever a run that failed has left.
  await redis.kill();
  await redis.start();
  for (const side of SIDES) {
    const { exitCode, signalCode } = gateways[side].process;
    model.isUp[side] = exitCode === null && signalCode === null;
  }
  await startGateways(model, real);
  for (const side of SIDES) {
    await real.isConnected(side);
    const made = await real.as(side)('POST', '/v1/agent-keys', { name: 'key', tenant_id: real.tenant });
    real.keys[side] = made.body.secret;
    for (const agent of AGENTS) {
      await real.as(side)('PATCH', `/v1/agents/${agent}/policy`, { session_calls_max: 1_000 });
    }
  }
  await real.exchange();
  return { model, real };
}

describe.skipIf(redisMissing !== null)('two gateways on one Redis', () => {
  beforeAll(async () => {
    const port = await freePort();
    redis = await startRedis(['--port', String(port), '--appendonly', 'yes', '--appendfsync', 'no']);
    upstream = await new ScriptedUpstream().listen();
    env = { ...upstreamsAt(upstream.origin), REDIS_URL: `redis://127.0.0.1:${port}` };
    for (const side of SIDES) gateways[side] = await startGateway({ env });
  });
  afterAll(async () => {
    await Promise.all(SIDES.map((side) => gateways[side]?.kill()));
    await redis?.stop();
    await upstream?.close();
  });

  test(
    'kill switches are set, fire and are let go as one, and count each for itself',
    { timeout: MODEL_TIMEOUT_MS },
    () => runModel(kinds, 1, begin, restart),
  );
});
