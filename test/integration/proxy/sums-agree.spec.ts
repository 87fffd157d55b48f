/**
 * What calls have cost is the same wherever it stands: in their records, in the sums by agent, model, day and hour, with the agent, with
 * all agents, and with the sessions; before a restart and after it.
 */
import { beforeEach, expect, test } from 'vitest';
import { respondEvents, respondJson } from '#testing';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startAgain, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { VENDORS } from './vendors.js';

type Json = Record<string, any>;

const AGENT = 'accountant';
/** As all vendors here tell it. */
const TOKENS = 120;
const EMBEDDED_TOKENS = 9;
const FETCHED = { input_tokens: 10, output_tokens: 50_000, total_tokens: 50_010 };

startOneGateway(upstreamsAt);
beforeEach(() => {
  const response = { id: 'resp_1', object: 'response', model: 'gpt-4o', output: [] };
  upstream.script((call, answer) => {
    const { url, method, json } = call;
    if (method === 'GET')
      return respondJson(answer, 200, { ...response, status: 'completed', usage: FETCHED });
    if ((json as Json).background) return respondJson(answer, 200, { ...response, status: 'queued' });
    if (url.endsWith('/embeddings'))
      return respondJson(answer, 200, { data: [], usage: { prompt_tokens: EMBEDDED_TOKENS } });
    if ((json as Json).model === 'broken')
      return respondEvents(answer, ['data: {"error":{"message":"overloaded"}}\n\n']);
    const vendor = VENDORS.find((one) => url.includes(PATHS[one.name] ?? one.name));
    return vendor?.answer(call, answer, { text: 'Here it is.' });
  });
});

const PATHS: Record<string, string> = {
  'OpenAI Chat Completions': '/chat/completions',
  'OpenAI Responses': '/responses',
  'Anthropic Messages': '/messages',
  'Gemini generateContent': 'enerateContent',
  'Gemini interactions': '/interactions',
};

const openai = (path: string, body?: object, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/agents/${AGENT}/proxy/openai/v1${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  }).then((response) => response.text());

const look = async (path: string): Promise<Json> => (await gateway.operator('GET', path)).body;
const microUsd = (lines: Json[]) =>
  lines.reduce((sum, { cost_usd }) => sum + Math.round((cost_usd ?? 0) * 1e6), 0);

async function allPlaces(): Promise<Json> {
  const { items: calls } = await look('/v1/calls?limit=500');
  const groups: number[] = [];
  for (const group of ['agent', 'model', 'day', 'hour'])
    groups.push(microUsd((await look(`/v1/spend?group=${group}`)).items));
  const { spend } = await look(`/v1/agents/${AGENT}`);
  const { spend: together } = await look('/v1/all-agents');
  const spent = [spend.month, together.month].map(({ spent_usd }) => Math.round(spent_usd * 1e6));
  const { items: sessions } = await look('/v1/sessions');
  const inSessions = calls.filter(({ session_id }: Json) => session_id !== '');
  return {
    sums: new Set([microUsd(calls), ...groups, ...spent]),
    sessions: { told: microUsd(sessions), recorded: microUsd(inSessions) },
    tokens: sessions.reduce((sum: number, { tokens }: Json) => sum + tokens, 0),
    names: sessions.map(({ session_id }: Json) => session_id),
  };
}

test('what was spent is one sum in every place, before a restart and after it', async () => {
  for (const vendor of VENDORS) {
    await vendor.ask(gateway.url, `Whole, of ${vendor.name}?`, { agent: AGENT });
    await vendor.askStreaming(gateway.url, `Streamed, of ${vendor.name}?`, { agent: AGENT });
  }
  const embed = { model: 'text-embedding-3-small', input: 'x'.repeat(900) };
  // In no session, and in one that has no step.
  await openai('/embeddings', embed);
  await openai('/embeddings', embed, { 'x-observatory-session': 'indexing' });
  await openai('/chat/completions', { model: 'broken', stream: true, messages: [] });
  await openai('/responses', { model: 'gpt-4o', input: 'Look into it.', background: true });
  await expect.poll(async () => (await allPlaces()).names).toHaveLength(2 * VENDORS.length + 3);
  await openai('/responses/resp_1');

  const agree = async () => {
    const { sums, sessions, tokens, names } = await allPlaces();
    expect(sums.size).toBe(1);
    expect(sessions.told).toBe(sessions.recorded);
    expect(tokens).toBe(2 * VENDORS.length * TOKENS + EMBEDDED_TOKENS + FETCHED.total_tokens);
    expect(names).not.toContain('');
  };
  await expect.poll(async () => (await allPlaces()).tokens).toBeGreaterThan(FETCHED.total_tokens);
  await agree();
  await gateway.stop();
  await startAgain();
  await agree();
});
