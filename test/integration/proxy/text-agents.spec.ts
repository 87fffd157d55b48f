/**
 * Agents without tools on the wire, by the shape of their requests: the model writes its call into its text, and what came of
 * it stands behind `Observation:`, in the user's next message, behind the model's own words, or in the one message that is sent. One that gets on is not stopped, one that does not is, as with tools.
 */
import { describe, expect, test } from 'vitest';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';
import { always, openaiChat, VENDORS, type Vendor } from './vendors.js';

startOneGateway(upstreamsAt);

type Said = readonly ['user' | 'model', string];
/** What the model writes at a step, and what is then sent, given what was sent before. */
type Step = (
  serial: number,
  found: string,
  sent: readonly Said[],
) => { wrote: string; said: readonly Said[] };

const TASK: Said = ['user', 'Read the meter until it stands still.'];
/** Equal steps score 4.5n - 11 at request n, the task being the first, as with tools: 7 at the 4th, 11.5 at the 5th. */
const FATAL_REQUEST = 5;

let serialOfAgent = 0;

const BODIES: Record<string, (said: readonly Said[]) => [path: string, body: object]> = {
  'OpenAI Chat Completions': (said) => [
    'openai/v1/chat/completions',
    { model: 'm', messages: said.map(([who, content]) => ({ role: chatRole(who), content })) },
  ],
  'OpenAI Responses': (said) => [
    'openai/v1/responses',
    {
      model: 'm',
      input: said.map(([who, text]) => ({
        type: 'message',
        role: chatRole(who),
        content: [{ type: who === 'user' ? 'input_text' : 'output_text', text }],
      })),
    },
  ],
  'Anthropic Messages': (said) => [
    'anthropic/v1/messages',
    {
      model: 'm',
      max_tokens: 9,
      messages: said.map(([who, text]) => ({ role: chatRole(who), content: [{ type: 'text', text }] })),
    },
  ],
  'Gemini generateContent': (said) => [
    'gemini/v1beta/models/m:generateContent',
    { contents: said.map(([role, text]) => ({ role, parts: [{ text }] })) },
  ],
  'Gemini interactions': (said) => [
    'gemini/v1beta/interactions',
    {
      model: 'm',
      input: said.map(([who, text]) => ({
        type: who === 'user' ? 'user_input' : 'model_output',
        content: [{ type: 'text', text }],
      })),
    },
  ],
};
const chatRole = (who: Said[0]) => (who === 'user' ? 'user' : 'assistant');

/** @returns the gateway's decision */
async function send(vendor: Vendor, agent: string, said: readonly Said[]) {
  const [path, body] = (BODIES[vendor.name] as (typeof BODIES)[string])(said);
  const answer = await fetch(`${gateway.url}/agents/${agent}/proxy/${path}`, {
    method: 'POST',
    headers: { 'x-observatory-key': AGENT_KEY, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await answer.text();
  return answer.headers.get('x-observatory-decision');
}

/** @returns the request at which it is stopped */
async function run(
  vendor: Vendor,
  take: Step,
  found: (serial: number) => string,
  count: number,
  opening: readonly Said[] = [TASK],
) {
  serialOfAgent += 1;
  const agent = `text-agent-${serialOfAgent}`;
  let conversation = opening;
  for (let request = 1; request <= count; request += 1) {
    const { wrote, said } = take(request, found(request), conversation);
    upstream.script(always(vendor, { text: wrote }));
    if ((await send(vendor, agent, conversation)) === 'killed') return request;
    conversation = said;
  }
  return null;
}

const react = (input: string) => `Thought: I look at the meter.\nAction: read\nAction Input: ${input}`;
const blob = (input: string) => `Action:\n{\n  "name": "read",\n  "arguments": ${input}\n}`;
const code = (input: string) => `Thought: I look at the meter.\n<code>\nread(${input})\n</code>`;
const listed = (wrote: string, serial: number, name: string, input: string) =>
  `${wrote}\nCalling tools:\n[{'id': 'call_${serial}', 'type': 'function', 'function': {'name': '${name}', 'arguments': ${input}}}]`;

/** Each with the arguments of its step: of one that gets on they may differ, too. */
const steps = (inputOf: (serial: number) => string): Record<string, Step> => ({
  LlamaIndex: (serial, found, sent) => {
    const wrote = react(inputOf(serial));
    return {
      wrote,
      said: [...sent, ['model', wrote], ['user', `Observation: ${found}`]],
    };
  },
  'ToolCallingAgent of smolagents': (serial, found, sent) => {
    const wrote = blob(inputOf(serial));
    return {
      wrote,
      said: [
        ...sent,
        ['model', listed(wrote, serial, 'read', inputOf(serial))],
        ['user', `Observation:\n${found}`],
      ],
    };
  },
  'CodeAgent of smolagents': (serial, found, sent) => {
    const wrote = code(inputOf(serial));
    return {
      wrote,
      said: [
        ...sent,
        ['model', listed(wrote, serial, 'python_interpreter', `'read(${inputOf(serial)})'`)],
        ['user', `Observation:\nExecution logs:\n${found}\nLast output from code snippet:\nNone`],
      ],
    };
  },
  crewAI: (serial, found, sent) => {
    const wrote = react(inputOf(serial));
    return { wrote, said: [...sent, ['model', `${wrote}\nObservation: ${found}`]] };
  },
  'crewAI, with more to say': (serial, found, sent) => {
    const wrote = `Thought: ${'I know nothing of the meter yet. '.repeat(20)}\n${react(inputOf(serial))}`;
    return { wrote, said: [...sent, ['model', `${wrote}\nObservation: ${found}`]] };
  },
  "LangChain's ReAct": (serial, found, sent) => {
    const wrote = react(inputOf(serial)).slice('Thought:'.length);
    return { wrote, said: prompt(`${scratchpadOf(sent)}${wrote}\nObservation: ${found}\nThought: `) };
  },
  'one message that the model seems to go on with': (serial, found, [task, before]) => {
    const wrote = react(inputOf(serial));
    const grown = [...(before === undefined ? [] : [before[1]]), `${wrote}\nObservation: ${found}\nThought:`];
    return { wrote, said: [task as Said, ['model', grown.join('\n')]] };
  },
});

/** In the words of LangChain's prompt. @param scratchpad what model and client wrote so far */
const prompt = (scratchpad: string): readonly Said[] => [
  [
    'user',
    'Use this format:\n\nQuestion: what you must answer\nThought: think about what to do\nAction: one of [read]\n' +
      'Action Input: its input\nObservation: what it comes back with\n... (this can repeat N times)\nFinal Answer: the answer\n\n' +
      `Begin!\n\nQuestion: How far is the meter?\nThought:${scratchpad}`,
  ],
];
const scratchpadOf = ([message]: readonly Said[]) => message?.[1].split('meter?\nThought:')[1] ?? '';
const OPENINGS: Record<string, readonly Said[]> = { "LangChain's ReAct": prompt('') };

const SAME = steps(() => '{"meter": 1}');
const OTHER = steps((serial) => `{"meter": ${serial}}`);

// First: of more calls than a tenant may have steps of in a second, none are made.
test('one is said to loop where it does, and only there: its steps name what it called', async () => {
  const sessions = async () =>
    (await gateway.operator('GET', `/v1/sessions?agent_id=text-agent-${serialOfAgent}`)).body.items;
  await run(openaiChat, OTHER.crewAI as Step, () => 'ok', 9);
  const worked = { step_count: 9, severity: 'normal', last_tool: expect.stringMatching(/^read#/) };
  await expect.poll(sessions).toEqual([expect.objectContaining(worked)]);
  await run(openaiChat, SAME.crewAI as Step, (serial) => `${serial}`, 9);
  await expect.poll(sessions).toEqual([expect.objectContaining({ ...worked, severity: 'loop' })]);
});

test('the one message of a ReAct agent is one session, however long it has become, and another question another', async () => {
  const take = OTHER["LangChain's ReAct"] as Step;
  await run(openaiChat, take, () => 'ok', 6, prompt(''));
  const agent = `text-agent-${serialOfAgent}`;
  const counts = async () =>
    (await gateway.operator('GET', `/v1/sessions?agent_id=${agent}`)).body.items.map(
      (session: { step_count: number }) => session.step_count,
    );
  await expect.poll(counts).toEqual([6]);
  const [[who, text]] = prompt('') as [Said];
  await send(openaiChat, agent, [[who, text.replace('How far is', 'How old is')]]);
  await expect.poll(async () => (await counts()).sort()).toEqual([1, 6]);
});

describe.each(VENDORS)('by $name', (vendor: Vendor) => {
  describe.each(Object.keys(SAME))('an agent of the shape of %s', (shape) => {
    const opening = OPENINGS[shape];

    test('that reads one number after another is not stopped', async () => {
      expect(await run(vendor, SAME[shape] as Step, (serial) => `${40 + serial}`, 14, opening)).toBeNull();
    });

    test('whose calls differ by a number is not stopped, whatever they come back with', async () => {
      expect(await run(vendor, OTHER[shape] as Step, () => 'ok', 14, opening)).toBeNull();
    });

    test(`that reads the same again and again is stopped at its ${FATAL_REQUEST}th request`, async () => {
      expect(await run(vendor, SAME[shape] as Step, () => '41', 14, opening)).toBe(FATAL_REQUEST);
    });
  });
});

test('a user who says the same with another number is no tool', async () => {
  const take: Step = (serial, _found, sent) => ({
    wrote: 'It is still being processed.',
    said: [
      ...sent,
      ['model', 'It is still being processed.'],
      ['user', `Observation: order ${serial} did not come.`],
    ],
  });
  // The task is the first: 3(n - 1) - 5 at request n.
  expect(await run(openaiChat, take, () => '', 14)).toBe(7);
});
