import { beforeEach, describe, expect, test } from 'vitest';
import { type AgentHomes, type AgentScope, agentScope } from '#contracts';
import { deferred, MINUTE_MS } from '#kernel';
import { FakeClock } from '#testing';
import { SplitAgents } from './split-agents.js';

const BOT = agentScope('t', 'bot');
const OTHER = agentScope('t', 'other');

let clock: FakeClock;
let changes: [AgentScope, boolean][];
/** Who had each agent last. */
let homes: Map<AgentScope, string>;
beforeEach(() => {
  clock = new FakeClock(0);
  changes = [];
  homes = new Map();
});

const homesOf = (gatewayId: string): AgentHomes => ({
  claim: async (scopes) =>
    scopes.map((scope) => {
      const last = homes.get(scope) ?? gatewayId;
      homes.set(scope, gatewayId);
      return last !== gatewayId;
    }),
});
const gateway = (shared: AgentHomes | null) =>
  new SplitAgents({ homes: shared, clock, onChanged: (...change) => changes.push(change) });
const callAt = async (agents: SplitAgents, scope = BOT) => {
  agents.noteCall(scope);
  await agents.look();
};

describe('an agent that two gateways are called by in turns', () => {
  test('is split for both with its second move, and no longer once it has stayed for five minutes', async () => {
    const [here, there] = [gateway(homesOf('a')), gateway(homesOf('b'))];
    for (const agents of [here, there, here, there]) await callAt(agents);
    expect([here.isSplit(BOT), there.isSplit(BOT)]).toEqual([false, true]);
    await callAt(here);
    expect(here.isSplit(BOT)).toBe(true);
    expect(changes).toEqual([
      [BOT, true],
      [BOT, true],
    ]);
    expect(here.count).toBe(1);

    clock.advance(5 * MINUTE_MS + 1);
    await callAt(here);
    expect([here.isSplit(BOT), here.count]).toEqual([false, 0]);
    expect(changes.at(-1)).toEqual([BOT, false]);
  });

  test('is so by itself: an agent that stays is not', async () => {
    const [here, there] = [gateway(homesOf('a')), gateway(homesOf('b'))];
    for (const agents of [here, there, here, there, here]) {
      await callAt(agents);
      await callAt(here, OTHER);
    }
    expect([here.isSplit(BOT), here.isSplit(OTHER)]).toEqual([true, false]);
  });
});

test('a deployment, there and back, splits nobody', async () => {
  const [here, there] = [gateway(homesOf('a')), gateway(homesOf('b'))];
  for (const agents of [here, here, there, there, here, here]) await callAt(agents);
  clock.advance(6 * MINUTE_MS);
  for (const agents of [there, there, here]) await callAt(agents);
  expect(changes).toEqual([]);
});

test('a shared store that is away is asked again with the next calls', async () => {
  let isAway = true;
  const there = homesOf('b');
  const here = gateway({
    claim: async (scopes) => (isAway ? scopes.map(() => false) : homesOf('a').claim(scopes)),
  });
  await callAt(here);
  expect(homes.size).toBe(0);
  isAway = false;
  for (let turn = 0; turn < 3; turn += 1) {
    await callAt(here);
    await there.claim([BOT]);
  }
  expect(here.isSplit(BOT)).toBe(true);
});

test('a shared store that hangs is asked one thing, whatever calls come', async () => {
  const held = deferred<boolean[]>();
  const asked: (readonly AgentScope[])[] = [];
  const here = gateway({
    claim: (scopes) => {
      asked.push(scopes);
      return held.promise;
    },
  });
  here.noteCall(BOT);
  const looking = here.look();
  await callAt(here, OTHER);
  expect(asked).toEqual([[BOT]]);
  held.resolve([false]);
  await looking;
  await here.look();
  expect(asked).toEqual([[BOT], [OTHER]]);
});

test('of many agents at once a thousand are asked about, and another tenant is not left out', async () => {
  const asked: AgentScope[] = [];
  const here = gateway({
    claim: async (scopes) => {
      asked.push(...scopes);
      return scopes.map(() => false);
    },
  });
  for (let at = 0; at < 1_500; at += 1) here.noteCall(agentScope('t', `bot-${at}`));
  here.noteCall(agentScope('u', 'bot'));
  await here.look();
  expect(asked).toHaveLength(1_000);
  expect(asked).toContain(agentScope('u', 'bot'));
});

test('nobody is split where no Redis is shared', async () => {
  const alone = gateway(null);
  await callAt(alone);
  expect(alone.isSplit(BOT)).toBe(false);
});
