/** The demo as a newcomer starts it, faster than life: every page has something to show, and it ends when it is told to. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type { LlmCall } from '#contracts';
import { endWithFile } from './end-with-file.js';
import { startOnOutput } from './start-on-output.js';

const DEMO = join(import.meta.dirname, '../../scripts/demo.mjs');
const OPERATOR_TOKEN = 'demo-operator-token-of-a-test-0123456789';
const OPERATOR = { authorization: `Bearer ${OPERATOR_TOKEN}`, 'x-observatory-operator-id': 'ada' };
const WAIT = { timeout: 60_000, interval: 200 };

it('has a caller stopped by the kill switch, one that the cache answers, and one that streams', async () => {
  const demo = startOnOutput(DEMO, 'pipe', { PORT: '0', OBSERVATORY_OPERATOR_TOKEN: OPERATOR_TOKEN }, [
    '--agents=1',
    '--rate=40',
  ]);
  // Told to end, it takes its gateway with it.
  endWithFile(() => demo.process.kill('SIGTERM') && demo.ended);
  let output = '';
  demo.process.stdout?.on('data', (text) => {
    output += text;
  });
  const urlOf = () => /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0];
  await expect.poll(urlOf, WAIT).toBeDefined();
  const itemsOf = async (path: string) => {
    const answer = await fetch(`${urlOf()}/v1/${path}`, { headers: OPERATOR });
    return ((await answer.json()) as { items: LlmCall[] }).items;
  };
  const stoppedAgents = async () => (await itemsOf('incidents')).map(({ agent_id }) => agent_id);
  await expect.poll(stoppedAgents, WAIT).toEqual(['price-watch']);
  const decisions = async (agent: string) =>
    new Set((await itemsOf(`calls?limit=200&agent_id=${agent}`)).map(({ decision }) => decision));
  await expect.poll(() => decisions('help-desk'), WAIT).toEqual(new Set(['forwarded', 'cached']));
  await expect.poll(() => decisions('price-watch'), WAIT).toContain('inactive');
  const reviewed = await itemsOf('calls?agent_id=reviewer');
  expect(reviewed.some(({ stream, tool_calls }) => stream && tool_calls[0]?.name === 'read_file')).toBe(true);
  expect(reviewed.every(({ usage }) => (usage?.input_tokens ?? 0) > 0)).toBe(true);

  await fetch(`${urlOf()}/v1/agents/price-watch/reactivate`, { method: 'POST', headers: OPERATOR });
  await expect.poll(stoppedAgents, WAIT).toEqual(['price-watch', 'price-watch']);

  demo.process.kill('SIGINT');
  expect(await demo.ended).toEqual([0, null]);
  expect(output).toContain('price-watch asked the same six times');
  expect(output).toMatch(/Stopped after .* and \d+ calls of a model\./);
});

it('ends where its port is taken, leaves nothing running and says what to do', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const demo = promisify(execFile)(process.execPath, [DEMO], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    timeout: WAIT.timeout,
    killSignal: 'SIGKILL',
  });
  await expect(demo).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The port is taken: set PORT to another one'),
  });
  taken.close();
});
