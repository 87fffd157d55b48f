/**
 * An agent that names another run, or session, with each call: its kill switch looks at each session by itself, and so never sees it
 * repeat itself, unless an operator has it look at the agent as a whole.
 */
import { describe, expect, test } from 'vitest';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { always, openaiChat } from './vendors.js';

startOneGateway(upstreamsAt);

/** Equal question, equal answer: stopped at this request, where the calls are one session's. */
const FATAL_REQUEST = 6;
/** Equal call, equal result, the question being the 1st request. */
const FATAL_TOOL_STEP = 5;
const CALL_COUNT = 2 * FATAL_REQUEST;

const CHANGING = ['x-session-affinity', 'x-session-id', 'x-opencode-session', 'x-observatory-session'];

const ask = async (
  agent: string,
  header: string,
  value: string,
  messages: object[],
): Promise<string | null> => {
  const response = await fetch(`${gateway.url}/agents/${agent}/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${AGENT_KEY}`, 'content-type': 'application/json', [header]: value },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages }),
  });
  await response.arrayBuffer();
  return response.headers.get('x-observatory-decision');
};

type Habit = (agent: string, header: string) => Promise<(string | null)[]>;

const asksTheSame: Habit = async (agent, header) => {
  upstream.script(always(openaiChat, { text: 'The order 4711 is still being processed.' }));
  const decisions = [];
  for (let call = 0; call < CALL_COUNT && decisions.at(-1) !== 'killed'; call += 1)
    decisions.push(
      await ask(agent, header, `run-${call}`, [{ role: 'user', content: 'Where is order 4711?' }]),
    );
  return decisions;
};

const callsTheSameTool: Habit = async (agent, header) => {
  const made = { name: 'bash', arguments: { command: 'make' } };
  upstream.script(always(openaiChat, { toolCall: made }));
  const decisions = [];
  const messages: object[] = [{ role: 'user', content: 'Build it.' }];
  for (let step = 0; step < CALL_COUNT && decisions.at(-1) !== 'killed'; step += 1) {
    decisions.push(await ask(agent, header, `run-${step}`, messages));
    const call = { id: `c${step}`, type: 'function', function: { ...made, arguments: '{"command":"make"}' } };
    messages.push(
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: call.id, content: 'make: no rule' },
    );
  }
  return decisions;
};

describe.each(CHANGING)('an agent that changes %s with each call', (header) => {
  const habits: [string, Habit, number][] = [
    ['asks the same again and again', asksTheSame, FATAL_REQUEST],
    ['makes the same tool call again and again', callsTheSameTool, FATAL_TOOL_STEP],
  ];
  test.each(habits)(
    'and %s is stopped by no kill switch of its sessions, and by one of the agent',
    async (what, habit, fatal) => {
      const name = `${header}-${what.split(' ')[0]}`;
      expect(await habit(`${name}-by-session`, header)).toEqual(Array(CALL_COUNT).fill('forwarded'));

      const agent = `${name}-as-a-whole`;
      const { status } = await gateway.operator('PATCH', `/v1/agents/${agent}/kill-switch`, {
        scope: 'agent',
      });
      expect(status).toBe(200);
      expect(await habit(agent, header)).toEqual([...Array(fatal - 1).fill('forwarded'), 'killed']);
      const { body } = await gateway.operator('GET', `/v1/incidents?agent_id=${agent}`);
      expect(body.items).toHaveLength(1);
    },
  );
});
