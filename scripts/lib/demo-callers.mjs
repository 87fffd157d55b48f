/**
 * Agents that know nothing of Observatory but its base URL: they call a model through the proxy with the vendor's own SDK,
 * and send no step themselves. One of them asks the same and gets the same, until the kill switch stops it.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import { makeDice } from './demo-crew.mjs';
import { changedFiles, faq } from './demo-model.mjs';

/** @typedef {import('openai').OpenAI.ChatCompletionMessageParam} Message */
/** @typedef {{ url: string, key: string, rate: number, signal: AbortSignal, say: (text: string) => void, onCall: () => void }} Line */

const MODEL = 'gpt-4.1';
/** After it was stopped, until it asks again whether it may. */
const stoppedSeconds = 20;

/** @type {import('openai').OpenAI.ChatCompletionTool[]} */
const tools = [
  {
    type: 'function',
    function: {
      name: 'read_file',
      description: 'Reads a file of the repository.',
      parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    },
  },
];

/** One agent: its client, and the pace at which it asks. */
class Caller {
  /** @type {OpenAI} */
  #client;
  #line;
  #dice;

  /** @param {string} agentId @param {Line} line */
  constructor(agentId, line) {
    this.agentId = agentId;
    this.#line = line;
    this.#dice = makeDice(agentId.length);
    this.#client = new OpenAI({
      baseURL: `${line.url}/agents/${agentId}/proxy/openai/v1`,
      apiKey: line.key,
      // A pause may last longer than one call is held.
      maxRetries: 100,
      timeout: 15 * 60_000,
    });
  }

  get dice() {
    return this.#dice;
  }

  /** @param {string} text */
  say(text) {
    this.#line.say(`${this.agentId} ${text}`);
  }

  /** @param {number} seconds */
  rest(seconds) {
    return sleep((seconds * 1000) / this.#line.rate, undefined, { signal: this.#line.signal });
  }

  think() {
    return this.rest(this.#dice.number(10, 40) / 10);
  }

  /**
   * @param {string} session
   * @param {Message[]} messages the answer is added to them
   * @param {Partial<import('openai').OpenAI.ChatCompletionCreateParams>} [more]
   * @returns {Promise<{ message: import('openai').OpenAI.ChatCompletionMessage, decision: string | null }>}
   */
  async ask(session, messages, more = {}) {
    const { signal, onCall } = this.#line;
    const options = { headers: { 'x-observatory-session': session }, signal };
    onCall();
    const { data, response } = more.stream
      ? await this.#client.chat.completions
          .create({ ...more, model: MODEL, messages, stream: true }, options)
          .withResponse()
      : await this.#client.chat.completions
          .create({ ...more, model: MODEL, messages, stream: false }, options)
          .withResponse();
    const message = 'choices' in data ? data.choices[0]?.message : await gather(data);
    if (message === undefined) throw new Error(`${this.agentId}: an answer without a choice`);
    messages.push(message);
    return { message, decision: response.headers.get('x-observatory-decision') };
  }
}

/**
 * @param {AsyncIterable<import('openai').OpenAI.ChatCompletionChunk>} stream
 * @returns {Promise<import('openai').OpenAI.ChatCompletionMessage>}
 */
async function gather(stream) {
  let content = '';
  /** @type {any[]} */
  const calls = [];
  for await (const { choices } of stream) {
    content += choices[0]?.delta.content ?? '';
    calls.push(...(choices[0]?.delta.tool_calls ?? []));
  }
  return { role: 'assistant', content, refusal: null, ...(calls.length > 0 && { tool_calls: calls }) };
}

/** Customers come with the same few questions, each in a conversation of its own: the cache answers most of them. */
async function helpDesk(/** @type {Caller} */ caller) {
  await caller.rest(caller.dice.number(3, 9));
  const asked = caller.dice.pick([...faq.keys()]);
  const question = caller.dice.chance(0.3) ? asked.replace(/[?]$/, ', please?') : asked;
  await caller.ask(sessionOf(caller), [system('You are the help desk of a shop.'), user(question)], {
    temperature: 0,
  });
}

/** Reads one file after the other, streamed, with a tool. */
async function reviewer(/** @type {Caller} */ caller) {
  const session = sessionOf(caller);
  const change = caller.dice.number(1_000, 9_999);
  const messages = [
    system('You are a careful reviewer.'),
    user(`Review change ${change}: ${changedFiles.length} files.`),
  ];
  for (;;) {
    const { message } = await caller.ask(session, messages, {
      tools,
      stream: true,
      stream_options: { include_usage: true },
    });
    const [call] = message.tool_calls ?? [];
    if (call === undefined) return;
    await caller.think();
    const lines = caller.dice.number(40, 400);
    messages.push({
      role: 'tool',
      tool_call_id: call.id,
      content: `${lines} lines of ${JSON.stringify(call)}`,
    });
  }
}

/** The model cannot open a page and says so; it asks again in the same words until somebody stops it or guides it. */
async function priceWatch(/** @type {Caller} */ caller) {
  const session = sessionOf(caller);
  const messages = [system('You are a buyer who compares prices.')];
  for (;;) {
    messages.push(user('What does the red bicycle in the window of the shop cost today?'));
    const { message, decision } = await caller.ask(session, messages);
    if (message.content?.startsWith('Understood')) {
      caller.say('was guided and leaves its loop');
      return;
    }
    if (decision === 'killed') {
      caller.say(
        'asked the same six times and was stopped by the kill switch: see Incidents, reactivate it there',
      );
      return;
    }
    await caller.think();
  }
}

/** @type {[string, (caller: Caller) => Promise<void>][]} */
export const callers = [
  ['help-desk', helpDesk],
  ['reviewer', reviewer],
  ['price-watch', priceWatch],
];

/** @param {Line} line @returns {Promise<void>} resolves once `line.signal` is aborted and all have stopped */
export async function runCallers(line) {
  await Promise.all(
    callers.map(([agentId, play]) => callForever(new Caller(agentId, line), play, line.signal)),
  );
}

/** @param {Caller} caller @param {(caller: Caller) => Promise<void>} play @param {AbortSignal} signal */
async function callForever(caller, play, signal) {
  while (!signal.aborted) {
    try {
      await caller.think();
      await play(caller);
    } catch (error) {
      if (signal.aborted) return;
      // A refusal: deactivated, terminated, over its budget. Its operator may think better of it.
      if (!(error instanceof OpenAI.APIError)) throw error;
      await caller.rest(stoppedSeconds).catch(() => {});
    }
  }
}

/** @param {Caller} caller */
const sessionOf = ({ agentId }) => `${agentId}-${randomUUID().slice(0, 8)}`;
/** @param {string} content @returns {Message} */
const system = (content) => ({ role: 'system', content });
/** @param {string} content @returns {Message} */
const user = (content) => ({ role: 'user', content });
