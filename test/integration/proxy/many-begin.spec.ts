/**
 * More sessions begin in one second, of two tenants, than are shown with their first call or make a step of it: what is listed and
 * what is told live is the same, nobody's call is lost, and a start makes good what there was no time for, however the process ended.
 */
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { respondEvents } from '#testing';
import { LiveThings, TENANTS, type TenantName } from '../model/two-tenants.js';
import { OPERATOR_TOKEN, operatorAt } from '../start-gateway.js';
import { gateway, startAgain, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';

type Json = Record<string, any>;

/** Of each tenant. Together more than the 400 that are shown, or make a step, in a second. */
const COUNT = 300;
const AGENTS = 5;
const TOKENS = 15;
const SOON = { timeout: 20_000, interval: 50 };

startOneGateway(upstreamsAt);

const live = new LiveThings('gateway:sessions', ({ session_id }) => session_id);
/** Answers of the upstream that wait to be told to go on. */
let answers: ServerResponse[];
/** Of this test alone. */
let run = 0;
const tenantOf = (of: TenantName) => `${of}-${run}`;
const keys = new Map<TenantName, string>();

beforeEach(async () => {
  run += 1;
  answers = [];
  upstream.script((_call, response) => void answers.push(response));
  for (const of of TENANTS) {
    const asked = { name: of, tenant_id: tenantOf(of) };
    keys.set(of, (await gateway.operator('POST', '/v1/agent-keys', asked)).body.secret);
  }
  live.watch(gateway.url, tenantOf);
});
afterEach(() => live.stop());

async function ask(of: TenantName, nth: number): Promise<string> {
  const response = await fetch(
    `${gateway.url}/agents/agent-${nth % AGENTS}/proxy/openai/v1/chat/completions`,
    {
      method: 'POST',
      headers: {
        authorization: `Bearer ${keys.get(of)}`,
        'content-type': 'application/json',
        'x-observatory-session': `session-${nth}`,
      },
      body: JSON.stringify({
        model: 'gpt-4o-mini',
        stream: true,
        messages: [{ role: 'user', content: `Question ${nth}` }],
      }),
    },
  );
  return response.text();
}

/** All of them. @returns what becomes of each, once the upstream has them all */
async function begin(): Promise<Promise<string>[]> {
  const asked = TENANTS.flatMap((of) => Array.from({ length: COUNT }, (_, nth) => ask(of, nth)));
  for (const one of asked) one.catch(() => {});
  await expect.poll(() => answers.length, SOON).toBe(asked.length);
  return asked;
}

const event = (more: object) => `data: ${JSON.stringify({ id: 'c', model: 'gpt-4o-mini', ...more })}\n\n`;
const answerAll = () => {
  for (const response of answers)
    void respondEvents(response, [
      event({ choices: [{ index: 0, delta: { content: 'Hello.' } }] }),
      event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
      event({ choices: [], usage: { prompt_tokens: TOKENS - 5, completion_tokens: 5 } }),
      'data: [DONE]\n\n',
    ]);
};

async function all(of: TenantName, path: string): Promise<Json[]> {
  const operator = operatorAt(gateway.url, OPERATOR_TOKEN, 'tester', tenantOf(of));
  const items: Json[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await operator('GET', `${path}?limit=500${cursor}`);
    items.push(...body.items);
    if (body.next_cursor === null) return items;
    cursor = `&cursor=${body.next_cursor}`;
  }
}
const looks = (rows: Iterable<Json>) =>
  [...rows]
    .map(
      ({ session_id, step_count, last_status, tokens }) =>
        `${session_id} ${step_count} ${last_status} ${tokens}`,
    )
    .sort();
const listed = (of: TenantName) => all(of, '/v1/sessions');
/** What is told live is what is listed. */
const agree = (of: TenantName) =>
  vi.waitFor(async () => expect(looks(live[of].values())).toEqual(looks(await listed(of))), SOON);
const sum = (rows: Json[], name: string) => rows.reduce((total, row) => total + row[name], 0);

describe('sessions that begin at once', () => {
  test('are shown, and have no call under way any more, where the process is killed', async () => {
    const asked = await begin();
    const shown = new Map<TenantName, string[]>();
    for (const of of TENANTS) {
      await agree(of);
      const rows = await listed(of);
      expect(new Set(rows.map((row) => `${row.step_count} ${row.last_status}`))).toEqual(
        new Set(['0 pending']),
      );
      shown.set(of, looks(rows));
    }
    await gateway.kill();
    expect((await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled')).toEqual([]);
    await startAgain();
    for (const of of TENANTS) {
      expect(looks(await listed(of))).toEqual(
        shown.get(of)?.map((look) => look.replace('pending', 'success')),
      );
      expect(await all(of, '/v1/calls')).toEqual([]);
    }
  });

  test.each([
    ['ended', () => gateway.stop()],
    ['killed', () => gateway.kill()],
  ])(
    'and are answered have a row each, with what their calls took, once the gateway was %s and started',
    async (_how, end) => {
      const asked = await begin();
      answerAll();
      for (const text of await Promise.all(asked)) expect(text).toContain('[DONE]');
      for (const of of TENANTS) {
        await expect.poll(async () => (await all(of, '/v1/calls')).length, SOON).toBe(COUNT);
        const isUnderWay = async () =>
          (await listed(of)).some(({ last_status }) => last_status === 'pending');
        await expect.poll(isUnderWay, SOON).toBe(false);
        await agree(of);
      }
      await end();
      await startAgain();
      for (const of of TENANTS) {
        const [rows, calls] = [await listed(of), await all(of, '/v1/calls')];
        expect(new Set(calls.map(({ decision }) => decision))).toEqual(new Set(['forwarded']));
        expect([rows.length, sum(rows, 'tokens')]).toEqual([COUNT, COUNT * TOKENS]);
        expect(sum(rows, 'cost_usd')).toBeCloseTo(sum(calls, 'cost_usd'), 9);
      }
    },
  );
});
