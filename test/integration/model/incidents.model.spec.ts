/**
 * Whoever stops agents, lets them run and changes rules, and however often the gateway goes down: each incident is opened once,
 * is closed by whoever lets its agent run, and is told once to each channel of each rule that is about it and not muted.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Receiver, startReceiver } from '../http-receiver.js';
import { OPERATOR_TOKEN, operatorAt, type RunningGateway } from '../start-gateway.js';
import { gateway, startAgain, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { ask, ChatVendor } from './proxied-chat.js';
import { command, type Ending, MODEL_TIMEOUT_MS, runModel, soon, times } from './run-model.js';
import { AGENTS, LiveThings, TENANTS, type TenantName } from './two-tenants.js';

type Json = Record<string, any>;

const OPERATORS = ['ada', 'ben'] as const;
/** A default rule of the type is there from the beginning. */
const RULES_MAX = 3;
const LATER_MS = 3_600_000;
/** An agent that repeats itself is stopped before this. */
const ASKED_MAX = 12;

interface Incident {
  id: string;
  by: string | null;
}
class Agent {
  /** An operator's name, or `kill_switch`. */
  stoppedBy: string | null = null;
  /** What an operator said last. */
  reason: string | null = null;
  readonly incidents: Incident[] = [];

  constructor(
    readonly tenant: Tenant,
    readonly name: string,
  ) {}

  get open(): Incident | null {
    const latest = this.incidents.at(-1);
    return latest?.by === null ? latest : null;
  }
}
interface Rule {
  id: string;
  enabled: boolean;
  agent_id: string | null;
  isMuted: boolean;
  notify_recovery: boolean;
  /** Which of the receivers. */
  channels: readonly number[];
  /** Agents it fires for, and how often that was told. */
  firing: Map<Agent, number>;
}
interface Tenant {
  name: TenantName;
  rules: Rule[];
  audit: string[];
}
class Model {
  readonly tenants = Object.fromEntries(
    TENANTS.map((name) => [name, { name, rules: [], audit: [] }]),
  ) as unknown as Record<TenantName, Tenant>;
  readonly agents = AGENTS.map(({ of, name }) => new Agent(this.tenants[of], name));
  /** By receiver, what it has been told. */
  readonly told: string[][] = [[], []];
  #serial = 0;

  next(): number {
    this.#serial += 1;
    return this.#serial;
  }

  tell({ id, channels }: Rule, phase: string, agent: Agent, of: string): void {
    for (const at of new Set(channels)) this.told[at]?.push(`${phase} ${id} ${agent.name} ${of}`);
  }

  /** Says what holds and was not said. */
  look(rule: Rule): void {
    for (const agent of this.agents) {
      const { open } = agent;
      if (!isAbout(rule, agent) || open === null) continue;
      const count = rule.firing.get(agent) ?? 0;
      const isDue = count === 0 && !rule.isMuted;
      if (isDue) this.tell(rule, 'firing', agent, open.id);
      rule.firing.set(agent, isDue ? 1 : count);
    }
  }

  /** Of agents that it is about no more. @param told the rule as it was */
  close(rule: Rule, told: Rule): void {
    for (const [agent, count] of rule.firing)
      if (!isAbout(rule, agent)) {
        if (count > 0 && told.notify_recovery) this.tell(told, 'recovered', agent, 'unwatched');
        rule.firing.delete(agent);
      }
  }
}
const isAbout = (rule: Rule, agent: Agent): boolean =>
  rule.enabled &&
  agent.tenant.rules.includes(rule) &&
  (rule.agent_id === null || rule.agent_id === agent.name);

let receivers: Receiver[] = [];
beforeAll(async () => {
  receivers = [await startReceiver(), await startReceiver()];
});
afterAll(async () => {
  for (const receiver of receivers) await receiver.close();
});

class Real {
  /** Of incidents by their ids, as the live topic last told of them. */
  readonly live = new LiveThings('gateway:incidents', (one) => one.incident_id);
  readonly channels = {} as Record<TenantName, string[]>;
  readonly keys = {} as Record<TenantName, string>;

  constructor(readonly run: number) {
    upstream.script(new ChatVendor().script);
    for (const receiver of receivers) receiver.received.length = 0;
  }

  tenant = (of: TenantName) => `${of}-${this.run}`;

  as = (of: TenantName, operator: string = OPERATORS[0]): RunningGateway['operator'] =>
    operatorAt(gateway.url, OPERATOR_TOKEN, operator, this.tenant(of));

  ask = ({ tenant, name }: Agent, session: string) =>
    ask(
      `${gateway.url}/agents/${name}`,
      { authorization: `Bearer ${this.keys[tenant.name]}`, 'x-observatory-session': `${name}-${session}` },
      { id: session },
    );

  watch = () => this.live.watch(gateway.url, this.tenant);

  /** What a receiver was told, each delivery once, however often it came. */
  told(at: number): string[] {
    const bodies = new Map(
      receivers[at]?.received.map(({ headers, body }) => [headers['x-observatory-delivery'], body]),
    );
    return [...bodies.values()].map((body) => {
      const { phase, rule_id, agent_id, detail, tenant_id } = JSON.parse(body) as Json;
      expect(tenant_id).toMatch(new RegExp(`-${this.run}$`));
      const of = detail.incident_id ?? (detail.watch_ended ? 'unwatched' : 'over');
      return `${phase} ${rule_id} ${agent_id} ${of}`;
    });
  }
}

const lineOf = ({ incident_id, reactivated_by }: Json) => `${incident_id} ${reactivated_by}`;

async function shown(model: Model, real: Real, of: TenantName): Promise<Json> {
  const look = async (path: string) => (await real.as(of)('GET', path)).body;
  const agents = model.agents.filter(({ tenant }) => tenant.name === of);
  const [all, open, closed, rules, audit] = await Promise.all(
    [
      '/v1/incidents?limit=500',
      '/v1/incidents?open=true&limit=500',
      '/v1/incidents?open=false&limit=500',
      '/v1/alert-rules',
      '/v1/audit?limit=500',
    ].map(look),
  );
  const views = await Promise.all(
    agents.map(async ({ name }) => {
      const view = await look(`/v1/agents/${name}`);
      const { items } = await look(`/v1/incidents?agent_id=${name}&limit=500`);
      return {
        by: view.policy?.deactivated_by ?? null,
        open: view.open_incident_id ?? null,
        own: items.map(lineOf),
      };
    }),
  );
  return {
    agents: views,
    all: all.items.map(lineOf),
    open: open.items.map(lineOf),
    closed: closed.items.map(lineOf),
    live: [...real.live[of].values()].map(lineOf).sort(),
    rules: rules.items
      .filter(({ rule_id }: Json) => !rule_id.startsWith('default_'))
      .map(({ rule_id, firing, firing_count }: Json) => ({
        rule_id,
        firing: firing.map(({ agent_id, notice_count }: Json) => `${agent_id} ${notice_count}`).sort(),
        firing_count,
      })),
    audit: audit.items
      .map(
        ({ operator_id, action, detail }: Json) =>
          `${operator_id} ${action} ${detail.agent_id ?? detail.rule_id}`,
      )
      .filter((line: string) => / (?:alert_rule|agent\.(?:deactivate|reactivate|kill))/.test(line))
      .reverse(),
  };
}

function modelled(model: Model, of: TenantName): Json {
  const agents = model.agents.filter(({ tenant }) => tenant.name === of);
  const lines = (incidents: Incident[]) => incidents.map(({ id, by }) => `${id} ${by}`);
  const all = agents.flatMap(({ incidents }) => incidents);
  const { rules, audit } = model.tenants[of];
  const inAnyOrder = (one: string[]) =>
    expect.toSatisfy((given: string[]) => given.toSorted().join() === one.toSorted().join());
  return {
    agents: agents.map(({ stoppedBy, open, incidents }) => ({
      by: stoppedBy,
      open: open?.id ?? null,
      own: lines(incidents).reverse(),
    })),
    all: inAnyOrder(lines(all)),
    open: inAnyOrder(lines(all.filter(({ by }) => by === null))),
    closed: inAnyOrder(lines(all.filter(({ by }) => by !== null))),
    live: lines(all).sort(),
    rules: rules.map(({ id, firing }) => ({
      rule_id: id,
      firing: [...firing].map(([{ name }, count]) => `${name} ${count}`).sort(),
      firing_count: firing.size,
    })),
    audit,
  };
}

async function agree(model: Model, real: Real): Promise<void> {
  for (const of of TENANTS) await soon(() => shown(model, real, of)).toEqual(modelled(model, of));
  for (const at of [0, 1])
    await soon(() => real.told(at).sort()).toEqual([...(model.told[at] as string[])].sort());
}

/** Asks the same until it is stopped; then several times at once. */
async function repeat(model: Model, real: Real, agent: Agent): Promise<void> {
  const session = `again-${model.next()}`;
  let outcome = 'answered';
  for (let count = 0; count < ASKED_MAX && outcome === 'answered'; count += 1) {
    // The last ones at once: one of them is the one that stops it.
    const asked = await Promise.all(
      Array.from({ length: count < 5 ? 1 : 3 }, () => real.ask(agent, session)),
    );
    outcome = asked.find((one) => one !== 'answered') ?? 'answered';
    if (outcome !== 'answered') expect(asked).toContain('killed');
  }
  expect(outcome).not.toBe('answered');
  const { items } = (await real.as(agent.tenant.name)('GET', `/v1/incidents?agent_id=${agent.name}&limit=1`))
    .body;
  agent.incidents.push({ id: items[0].incident_id, by: null });
  agent.stoppedBy = 'kill_switch';
  agent.tenant.audit.push(`kill_switch agent.deactivate ${agent.name}`);
  for (const rule of agent.tenant.rules) model.look(rule);
}

function letRun(model: Model, agent: Agent, by: string): void {
  agent.stoppedBy = null;
  agent.reason = null;
  agent.tenant.audit.push(`${by} agent.reactivate ${agent.name}`);
  const { open } = agent;
  if (open === null) return;
  open.by = by;
  for (const rule of agent.tenant.rules) {
    if (rule.notify_recovery && (rule.firing.get(agent) ?? 0) > 0)
      model.tell(rule, 'recovered', agent, 'over');
    rule.firing.delete(agent);
  }
}

const record: typeof fc.record = (model: any) => fc.record(model, { noNullPrototype: true }) as any;
const at = fc.nat({ max: AGENTS.length - 1 });
const who = fc.constantFrom(...OPERATORS);
const agentOf = (model: Readonly<Model>, { at }: { at: number }) => model.agents[at] as Agent;
const of = fc.constantFrom(...TENANTS);
const pick = fc.nat({ max: RULES_MAX - 1 });
const channels = fc.constantFrom<readonly number[]>([], [0], [1], [0, 1]);

type Patch = Partial<Pick<Rule, 'enabled' | 'agent_id' | 'isMuted' | 'notify_recovery' | 'channels'>>;
const patch: fc.Arbitrary<Patch> = fc.oneof(
  record({ enabled: fc.boolean() }),
  record({ agent_id: fc.constantFrom(null, 'one', 'both') }),
  record({ isMuted: fc.boolean() }),
  record({ notify_recovery: fc.boolean() }),
  record({ channels }),
);
const bodyOf = (real: Real, { name }: Tenant, { isMuted, channels, ...rest }: Patch): Json => ({
  ...rest,
  ...(isMuted !== undefined && { muted_until_ms: isMuted ? Date.now() + LATER_MS : null }),
  ...(channels && { channel_ids: channels.map((one) => real.channels[name][one]) }),
});

const kinds = [
  ...times(
    5,
    command(
      'repeat',
      record({ at }),
      async (model: Model, real: Real, given) => {
        await repeat(model, real, agentOf(model, given));
        await agree(model, real);
      },
      (model, given) => agentOf(model, given).stoppedBy === null,
    ),
  ),
  ...times(
    3,
    command(
      'let run',
      record({ at, who }),
      async (model: Model, real: Real, { who, ...given }) => {
        const agent = agentOf(model, given);
        const answer = await real.as(agent.tenant.name, who)(
          'POST',
          `/v1/agents/${agent.name}/reactivate`,
          {},
        );
        expect(answer).toMatchObject({ status: 200, body: { status: 'ok' } });
        letRun(model, agent, who);
        await agree(model, real);
      },
      (model, given) => agentOf(model, given).stoppedBy !== null,
    ),
  ),
  ...times(
    2,
    command(
      'both let run',
      record({ at }),
      async (model: Model, real: Real, given) => {
        const agent = agentOf(model, given);
        const path = `/v1/agents/${agent.name}/reactivate`;
        const answers = await Promise.all(
          OPERATORS.map((who) => real.as(agent.tenant.name, who)('POST', path, {})),
        );
        const notes = answers.map(({ body }) => body.note);
        expect(notes.toSorted()).toEqual(['already_active', undefined]);
        letRun(model, agent, OPERATORS[notes.indexOf(undefined)] as string);
        await agree(model, real);
      },
      (model, given) => agentOf(model, given).stoppedBy !== null,
    ),
  ),
  command('stop', record({ at, who }), async (model: Model, real: Real, { who, ...given }) => {
    const agent = agentOf(model, given);
    const path = `/v1/agents/${agent.name}/deactivate`;
    const { status } = await real.as(agent.tenant.name, who)('POST', path, { reason: 'enough' });
    expect(status).toBe(200);
    // Who stopped it first stays on record.
    if (agent.reason === null) agent.tenant.audit.push(`${who} agent.deactivate ${agent.name}`);
    agent.reason = 'enough';
    agent.stoppedBy ??= who;
    await agree(model, real);
  }),
  ...times(
    4,
    command(
      'rule',
      record({
        of,
        who,
        agent_id: fc.constantFrom(null, null, 'one', 'both'),
        isMuted: fc.boolean(),
        channels,
      }),
      async (model: Model, real: Real, { of, who, ...given }) => {
        const tenant = model.tenants[of];
        const name = `rule ${model.next()}`;
        const { status, body } = await real.as(of, who)('POST', '/v1/alert-rules', {
          name,
          type: 'kill_switch',
          ...bodyOf(real, tenant, given),
        });
        expect(status).toBe(201);
        const rule: Rule = {
          id: body.rule_id,
          enabled: true,
          notify_recovery: true,
          firing: new Map(),
          ...given,
        };
        tenant.rules.push(rule);
        tenant.audit.push(`${who} alert_rule.create ${rule.id}`);
        model.look(rule);
        await agree(model, real);
      },
      (model, { of }) => model.tenants[of].rules.length < RULES_MAX,
    ),
  ),
  ...times(
    8,
    command(
      'change rule',
      record({ of, who, pick, patch }),
      async (model: Model, real: Real, { of, who, pick, patch }) => {
        const tenant = model.tenants[of];
        const rule = tenant.rules[pick] as Rule;
        const body = bodyOf(real, tenant, patch);
        const { status } = await real.as(of, who)('PATCH', `/v1/alert-rules/${rule.id}`, body);
        expect(status).toBe(200);
        const before = { ...rule };
        Object.assign(rule, patch);
        // Muted once more is muted until later.
        const isOther =
          patch.isMuted === true || JSON.stringify({ ...before, ...patch }) !== JSON.stringify(before);
        if (isOther) tenant.audit.push(`${who} alert_rule.update ${rule.id}`);
        const isUnheard =
          rule.channels.length > 0 && !rule.channels.some((one) => before.channels.includes(one));
        if (isUnheard) for (const agent of rule.firing.keys()) rule.firing.set(agent, 0);
        model.close(rule, before);
        if (isOther) model.look(rule);
        await agree(model, real);
      },
      (model, { of, pick }) => model.tenants[of].rules[pick] !== undefined,
    ),
  ),
  command(
    'delete rule',
    record({ of, who, pick }),
    async (model: Model, real: Real, { of, who, pick }) => {
      const tenant = model.tenants[of];
      const rule = tenant.rules[pick] as Rule;
      const { status } = await real.as(of, who)('DELETE', `/v1/alert-rules/${rule.id}`);
      expect(status).toBe(200);
      tenant.rules = tenant.rules.filter((one) => one !== rule);
      tenant.audit.push(`${who} alert_rule.delete ${rule.id}`);
      model.close(rule, rule);
      await agree(model, real);
    },
    (model, { of, pick }) => model.tenants[of].rules[pick] !== undefined,
  ),
];

async function restart(model: Model, real: Real, how: Ending): Promise<void> {
  await gateway[how]();
  await startAgain();
  real.watch();
  await agree(model, real);
}

startOneGateway(upstreamsAt);
let run = 0;
async function begin(): Promise<{ model: Model; real: Real }> {
  run += 1;
  const real = new Real(run);
  for (const of of TENANTS) {
    const make = async (path: string, body: object) => {
      const answer = await real.as(of)('POST', path, body);
      expect(answer.status).toBe(201);
      return answer.body;
    };
    real.keys[of] = (await make('/v1/agent-keys', { name: 'key', tenant_id: real.tenant(of) })).secret;
    real.channels[of] = [];
    for (const { url } of receivers) {
      const { channel } = await make('/v1/alert-channels', {
        kind: 'webhook',
        name: 'on call',
        url,
        allow_private: true,
      });
      real.channels[of].push(channel.channel_id);
    }
  }
  real.watch();
  return { model: new Model(), real };
}

test(
  'whatever stops an agent, and whoever lets it run: each incident is opened, told and closed once, as the rules say',
  { timeout: MODEL_TIMEOUT_MS },
  () => runModel(kinds, 4, begin, restart),
);
