/**
 * What is a prompt, and what is a loop, with the vendors' own requests: the parts as the step and the sidecar put them
 * together, with words for an embedder.
 */
import { describe, expect, it } from 'vitest';
import { type Cosine, DIALECTS, type DialectName, sessionKey, similarityOfCosine } from '#contracts';
import { DIALECT_BY_NAME } from '#domain/llm-dialects';
import { LoopLadder, MemoryPromptHistory, promptOf } from '#domain/semantic-loop';
import { FakeClock } from '#testing';

const SYSTEM = 'You are a careful assistant. '.repeat(1_100);
const TURNS = 60;

interface Said {
  by: 'user' | 'model';
  text: string;
}

const conversation = (turns: number): Said[] =>
  Array.from({ length: turns * 2 - 1 }, (_, index) =>
    index % 2 === 0
      ? { by: 'user', text: `Question ${index / 2 + 1}: what of part ${index / 2 + 1}?` }
      : { by: 'model', text: `Answer ${(index + 1) / 2}, at some length.` },
  );

/** The same conversation as each vendor's client sends it. */
const BODY: Record<DialectName, (said: readonly Said[]) => unknown> = {
  'openai-chat': (said) => ({
    model: 'm',
    messages: [
      { role: 'system', content: SYSTEM },
      ...said.map(({ by, text }) => ({ role: by === 'user' ? 'user' : 'assistant', content: text })),
    ],
  }),
  'openai-responses': (said) => ({
    model: 'm',
    instructions: SYSTEM,
    input: said.map(({ by, text }) => ({ role: by === 'user' ? 'user' : 'assistant', content: text })),
  }),
  anthropic: (said) => ({
    model: 'm',
    max_tokens: 100,
    system: SYSTEM,
    messages: said.map(({ by, text }) => ({
      role: by === 'user' ? 'user' : 'assistant',
      content: [{ type: 'text', text }],
    })),
  }),
  gemini: (said) => ({
    systemInstruction: { parts: [{ text: SYSTEM }] },
    contents: said.map(({ by, text }) => ({ role: by === 'user' ? 'user' : 'model', parts: [{ text }] })),
  }),
  'gemini-interactions': (said) => ({
    model: 'm',
    system_instruction: SYSTEM,
    input: said.map(({ by, text }) => ({
      type: by === 'user' ? 'user_input' : 'model_output',
      content: [{ type: 'text', text }],
    })),
  }),
};

const read = (name: DialectName, body: unknown) =>
  DIALECT_BY_NAME[name].readRequest(body, '/v1beta/models/m:generateContent');

describe.each(DIALECTS)('a prompt in %s', (name) => {
  it('is the newest text alone after 60 turns under a system prompt of 30 kB', () => {
    expect(SYSTEM.length).toBeGreaterThan(30_000);
    const request = read(name, BODY[name](conversation(TURNS)));
    expect(promptOf(request)).toBe(`Question ${TURNS}: what of part ${TURNS}?`);
    expect(request.system_text.length).toBeGreaterThan(30_000);
  });

  it('is another in each of 60 turns', () => {
    const prompts = Array.from({ length: TURNS }, (_, turn) =>
      promptOf(read(name, BODY[name](conversation(turn + 1)))),
    );
    expect(new Set(prompts).size).toBe(TURNS);
  });
});

const TOOL_TURNS: Record<DialectName, unknown> = {
  'openai-chat': {
    messages: [
      { role: 'user', content: 'Run the tests.' },
      {
        role: 'assistant',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'run', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '3 failed' },
    ],
  },
  'openai-responses': {
    input: [
      { role: 'user', content: 'Run the tests.' },
      { type: 'function_call', call_id: 'c1', name: 'run', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: '3 failed' },
    ],
  },
  anthropic: {
    messages: [
      { role: 'user', content: 'Run the tests.' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'run', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: '3 failed' }] },
    ],
  },
  gemini: {
    contents: [
      { role: 'user', parts: [{ text: 'Run the tests.' }] },
      { role: 'model', parts: [{ functionCall: { name: 'run', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'run', response: { output: '3 failed' } } }] },
    ],
  },
  'gemini-interactions': {
    input: [
      { type: 'user_input', content: [{ type: 'text', text: 'Run the tests.' }] },
      { type: 'function_call', id: 'c1', name: 'run', arguments: {} },
      { type: 'function_result', call_id: 'c1', name: 'run', result: '3 failed' },
    ],
  },
};

it.each(DIALECTS)('a turn of %s that brings tool results alone is no prompt', (name) => {
  const request = read(name, TOOL_TURNS[name]);
  expect(request.newest.tool_results).toHaveLength(1);
  expect(promptOf(request)).toBeNull();
});

describe('a loop', () => {
  const DIMENSION = 64;
  /** Words in any order, as a vector: stands in for an embedder. */
  const embed = (text: string): Float32Array => {
    const vector = new Float32Array(DIMENSION);
    for (const word of text.toLowerCase().match(/\w+/g) ?? []) {
      let hash = 7;
      for (const char of word) hash = (hash * 31 + (char.codePointAt(0) as number)) % 1_000_003;
      vector[hash % DIMENSION] = (vector[hash % DIMENSION] as number) + 1;
    }
    const length = Math.hypot(...vector);
    return vector.map((value) => value / length);
  };

  /** A gateway's step and its sidecar in a nutshell. */
  function start() {
    const clock = new FakeClock();
    const history = new MemoryPromptHistory({ clock, dimension: DIMENSION });
    const ladder = new LoopLadder({ clock });
    const ask = async (text: string, requestId: string, tenant = 'default', session = 's1') => {
      const scope = { tenant_id: tenant, session_id: session };
      const vector = embed(text);
      const [nearest] = await history.similar(scope, vector, requestId);
      await history.record(scope, { request_id: requestId, prompt: text, vector, at_ms: clock.nowMs() });
      const isLoop = nearest !== undefined && similarityOfCosine(nearest.cosine) > 0.95;
      return isLoop ? ladder.decide('pause', sessionKey(tenant, session)) : null;
    };
    return { clock, ask };
  }
  const QUESTION = 'Why does the build fail on the second machine?';
  const AGAIN = 'On the second machine, why does the build fail?';

  it('is the same question in other words: a hint, then an alert, then a pause', async () => {
    const { ask } = start();
    expect(await ask(QUESTION, 'r1')).toBeNull();
    expect(await ask(AGAIN, 'r2')).toBe('hinted');
    expect(await ask(QUESTION, 'r3')).toBe('alerted');
    expect(await ask(AGAIN, 'r4')).toBe('paused');
  });

  it("is no SDK's retry of the same call, however often", async () => {
    const { ask } = start();
    for (let attempt = 0; attempt < 4; attempt += 1) expect(await ask(QUESTION, 'r1')).toBeNull();
    expect(await ask(AGAIN, 'r2')).toBe('hinted');
  });

  it('is no question of another session or another tenant', async () => {
    const { ask } = start();
    expect(await ask(QUESTION, 'r1', 'a', 's')).toBeNull();
    expect(await ask(QUESTION, 'r2', 'a', 't')).toBeNull();
    expect(await ask(QUESTION, 'r3', 'b', 's')).toBeNull();
    expect(await ask(QUESTION, 'r4', 'a', 's')).toBe('hinted');
  });

  it('is no question from before the last five, or from more than an hour ago', async () => {
    const { ask, clock } = start();
    expect(await ask(QUESTION, 'r0')).toBeNull();
    const others = ['red apples', 'green pears', 'ripe plums', 'sour cherries', 'old walnuts'];
    for (const [index, other] of others.entries()) expect(await ask(other, `o${index}`)).toBeNull();
    expect(await ask(QUESTION, 'r1')).toBeNull();
    clock.advance(3_600_000);
    expect(await ask(QUESTION, 'r2')).toBeNull();
  });

  it('has the scale of the design: 0.95 is a cosine of 0.90', () => {
    expect(similarityOfCosine(0.9 as Cosine)).toBeCloseTo(0.95, 12);
  });
});
