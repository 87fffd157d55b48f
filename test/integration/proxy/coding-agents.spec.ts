/**
 * What coding agents of the command line send, by the shape of their requests: each puts its surroundings in front of the
 * question, and none knows of Observatory.
 */
import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { anthropic, gemini, openaiChat, openaiResponses, type Reply, type Vendor } from './vendors.js';

startOneGateway(upstreamsAt);

const QUESTION = 'Check the nightly build.';
const DONE: Reply = { text: 'The build is fine.' };

interface SessionRow {
  session_id: string;
  step_count: number;
  last_intent: string;
  cost_usd: number;
}

/** Sent as the agent does: one POST below its base URL. */
async function send(
  agent: string,
  vendor: Vendor,
  path: string,
  body: object,
  reply: Reply = DONE,
  headers: Record<string, string> = {},
) {
  upstream.script((call, response: ServerResponse) => vendor.answer(call, response, reply));
  const answer = await fetch(`${gateway.url}/agents/${agent}/proxy/${vendor.upstream}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${AGENT_KEY}`, ...headers },
    body: JSON.stringify(body),
  });
  return { decision: answer.headers.get('x-observatory-decision'), text: await answer.text() };
}

const sessionsOf = async (agent: string): Promise<SessionRow[]> =>
  (await gateway.operator('GET', `/v1/sessions?agent_id=${agent}`)).body.items;
const stepsOf = async (agent: string) => (await sessionsOf(agent)).map(({ step_count }) => step_count);
const intentsOf = async (agent: string) => (await sessionsOf(agent)).map(({ last_intent }) => last_intent);

describe('Claude Code', () => {
  const messages = (question: string): object[] => [
    {
      role: 'user',
      content: [
        { type: 'text', text: '<system-reminder>\nToday is the 27th.\n</system-reminder>\n\n' },
        { type: 'text', text: question },
      ],
    },
    { role: 'system', content: 'Kinds of agents: Explore, Plan.' },
  ];
  const ask = (agent: string, said: object[], reply?: Reply) =>
    send(
      agent,
      anthropic,
      '/v1/messages?beta=true',
      { model: 'm', max_tokens: 100, system: 'You are a coding agent.', messages: said },
      reply,
    );
  const ran = (step: number): object[] => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `t${step}`, name: 'Bash', input: { step } }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `t${step}`, content: `step ${step}` }],
    },
  ];

  test('a run stays one session when the client reminds the model of something on the way', async () => {
    const reminder = { role: 'system', content: 'The task tools were not used recently.' };
    const said = messages(QUESTION);
    for (let step = 0; step < 6; step += 1) {
      await ask('reminded', said, { toolCall: { name: 'Bash', arguments: { step } } });
      said.push(...ran(step));
      if (step % 2 === 1) said.push(reminder);
    }
    await ask('reminded', said);
    await expect.poll(() => stepsOf('reminded')).toEqual([7]);
  });

  test('it is in the list while its first command runs, and can be paused', async () => {
    await ask('slow', messages(QUESTION), { toolCall: { name: 'Bash', arguments: { command: 'make' } } });
    await expect.poll(() => intentsOf('slow')).toEqual([QUESTION]);
    const [session] = await sessionsOf('slow');
    expect(session).toMatchObject({
      step_count: 0,
      last_tool: expect.stringMatching(/^Bash#/),
      cost_unknown: false,
    });
    expect(session?.cost_usd).toBeGreaterThan(0);
    const paused = await gateway.operator('POST', `/v1/sessions/${session?.session_id}/pause`, {
      reason: 'to look',
    });
    expect(paused.status).toBe(200);
  });

  test('its session is called by the question, not by what the client put in front', async () => {
    await ask('named', messages(QUESTION));
    await expect.poll(() => intentsOf('named')).toEqual([QUESTION]);
  });
});

describe('Codex', () => {
  const context =
    '<environment_context>\n  <cwd>/srv/app</cwd>\n  <shell>bash</shell>\n</environment_context>';
  const message = (role: string, text: string) => ({
    type: 'message',
    role,
    content: [{ type: 'input_text', text }],
  });
  const opening = (question: string): object[] => [
    message('developer', 'You are a coding agent.'),
    message('user', context),
    message('user', question),
  ];
  const ask = (agent: string, run: string, input: object[], reply?: Reply) =>
    send(
      agent,
      openaiResponses,
      '/v1/responses',
      { model: 'm', store: false, prompt_cache_key: run, input },
      reply,
    );

  test('a job that asks the same in each of its runs is no loop: the client names the run', async () => {
    const decisions = [];
    for (let run = 0; run < 8; run += 1)
      decisions.push((await ask('nightly', `run-${run}`, opening(QUESTION))).decision);
    expect(decisions).toEqual(Array(8).fill('forwarded'));
    await expect.poll(() => stepsOf('nightly')).toEqual(Array(8).fill(1));
  });

  test('its session is called by the question, not by where the client runs', async () => {
    await ask('asked', 'run', opening(QUESTION));
    await expect.poll(() => intentsOf('asked')).toEqual([QUESTION]);
  });

  const outputOf = (serial: number, status: string, output: string) =>
    `Chunk ID: ${(0xc0de00 + serial).toString(16)}\nWall time: 0.0${serial} seconds\n${status}\nOutput:\n${output}`;
  const toolSteps = async (agent: string, outputAt: (step: number) => unknown) => {
    const input = opening(QUESTION);
    const call = { name: 'exec_command', arguments: { cmd: 'make' } };
    const decisions = [];
    for (let step = 0; step < 7; step += 1) {
      decisions.push((await ask(agent, 'run', input, { toolCall: call })).decision);
      const { name, arguments: args } = call;
      input.push(
        { type: 'function_call', call_id: `c${step}`, name, arguments: JSON.stringify(args) },
        { type: 'function_call_output', call_id: `c${step}`, output: outputAt(step) },
      );
    }
    return decisions;
  };

  test('one that runs the same command for ever is stopped, although the client numbers and times each run', async () => {
    const decisions = await toolSteps('looper', (step) =>
      outputOf(step, 'Process exited with code 2', 'make: no rule'),
    );
    expect(decisions.slice(0, 5)).toEqual([...Array(4).fill('forwarded'), 'killed']);
  });

  test('one that calls the same tool by MCP for ever is stopped, although the client times each call', async () => {
    const decisions = await toolSteps('by-mcp', (step) => [
      { type: 'input_text', text: `Wall time: 0.00${step} seconds\nOutput:` },
      { type: 'input_text', text: 'No such page.' },
    ]);
    expect(decisions.slice(0, 5)).toEqual([...Array(4).fill('forwarded'), 'killed']);
  });

  test('one that waits for a command that still runs goes on', async () => {
    const decisions = await toolSteps('waiter', (step) =>
      outputOf(step, 'Process running with session ID 7', ''),
    );
    expect(decisions).toEqual(Array(7).fill('forwarded'));
  });
});

describe('Gemini CLI', () => {
  const context = { text: '<session_context>\nThis is the Gemini CLI.\n</session_context>' };
  const ask = (agent: string, contents: object[]) =>
    send(agent, gemini, '/v1beta/models/m:generateContent', {
      systemInstruction: { parts: [{ text: 'Say how hard the task is.' }] },
      contents,
    });
  const routed = (question: string) => [
    { role: 'user', parts: [context] },
    { role: 'user', parts: [{ text: question }] },
  ];

  test('two questions to its router are two sessions, each called by its own', async () => {
    await ask('router', routed('What does alpha do?'));
    await ask('router', routed('Why is the sky blue?'));
    await expect
      .poll(async () => (await intentsOf('router')).sort())
      .toEqual(['What does alpha do?', 'Why is the sky blue?']);
  });

  test('its session is called by the question, not by what the client put in front', async () => {
    await ask('chat', [{ role: 'user', parts: [context, { text: QUESTION }] }]);
    await expect.poll(() => intentsOf('chat')).toEqual([QUESTION]);
  });
});

describe('opencode, Kilo and pi, which name a run in a header', () => {
  const ask = (agent: string, headers: Record<string, string>, messages: object[], reply?: Reply) =>
    send(agent, openaiChat, '/chat/completions', { model: 'm', messages }, reply, headers);
  const opening = (question: string): object[] => [
    { role: 'system', content: 'You are a coding agent.' },
    { role: 'user', content: question },
  ];

  test.each(['x-session-affinity', 'x-session-id', 'x-opencode-session'])(
    'a job that asks the same in each of its runs is no loop, where %s tells them apart',
    async (header) => {
      const decisions = [];
      for (let run = 0; run < 8; run += 1)
        decisions.push((await ask(`by-${header}`, { [header]: `ses_${run}` }, opening(QUESTION))).decision);
      expect(decisions).toEqual(Array(8).fill('forwarded'));
      await expect.poll(() => stepsOf(`by-${header}`)).toEqual(Array(8).fill(1));
    },
  );

  test('a run is one session from its first step to its last, and a loop in it is stopped', async () => {
    const said = opening(QUESTION);
    const decisions = [];
    for (let step = 0; step < 5; step += 1) {
      const call = { name: 'bash', arguments: { command: 'make' } };
      const headers = { 'x-session-affinity': 'ses_loop', 'x-session-id': 'ses_loop' };
      decisions.push((await ask('in-a-loop', headers, said, { toolCall: call })).decision);
      const made = { name: call.name, arguments: JSON.stringify(call.arguments) };
      said.push(
        { role: 'assistant', tool_calls: [{ id: `c${step}`, type: 'function', function: made }] },
        { role: 'tool', tool_call_id: `c${step}`, content: 'make: no rule' },
      );
    }
    expect(decisions).toEqual([...Array(4).fill('forwarded'), 'killed']);
    expect(await sessionsOf('in-a-loop')).toHaveLength(1);
  });

  test('a name that a proxy in between gives to everybody joins nobody', async () => {
    const constant = { 'x-session-id': 'frontend' };
    await ask('shared', constant, opening('What does alpha do?'));
    await ask('shared', constant, opening('Why is the sky blue?'));
    await expect
      .poll(async () => (await intentsOf('shared')).sort())
      .toEqual(['What does alpha do?', 'Why is the sky blue?']);
  });

  test('one too long for a name is none', async () => {
    await ask('long-named', {}, opening(QUESTION));
    await ask('long-named', { 'x-session-id': 's'.repeat(257) }, opening(QUESTION));
    await expect.poll(() => stepsOf('long-named')).toEqual([2]);
  });
});

describe('Copilot CLI', () => {
  const asked = `<current_datetime>2026-11-27T20:50:52.737+00:00</current_datetime>\n\n${QUESTION}`;

  test('its session is called by the question, not by the time in front', async () => {
    const messages = [{ role: 'user', content: asked }];
    await send('timed', openaiChat, '/chat/completions', { model: 'm', messages });
    await expect.poll(() => intentsOf('timed')).toEqual([QUESTION]);
  });

  test('one that runs the same command for ever is stopped, although the client numbers each shell', async () => {
    const messages: object[] = [{ role: 'user', content: asked }];
    const decisions = [];
    for (let step = 0; step < 5; step += 1) {
      const call = { name: 'bash', arguments: { command: 'make' } };
      const body = { model: 'm', messages };
      decisions.push(
        (await send('copilot', openaiChat, '/chat/completions', body, { toolCall: call })).decision,
      );
      const made = { name: call.name, arguments: JSON.stringify(call.arguments) };
      messages.push(
        { role: 'assistant', tool_calls: [{ id: `c${step}`, type: 'function', function: made }] },
        {
          role: 'tool',
          tool_call_id: `c${step}`,
          content: `make: no rule\n<shellId: ${step} completed with exit code 2>`,
        },
      );
    }
    expect(decisions).toEqual([...Array(4).fill('forwarded'), 'killed']);
  });
});
