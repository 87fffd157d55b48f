/**
 * The two ends of a proxied call, for the models: an agent that asks, and a vendor that answers at once, or, where the agent
 * asks `slowly`, when it is told to. Every call has an id of its own, so that each is found again on both sides: what its
 * question ends with or, where equal questions are asked, what the header `HOW` says.
 */
import type { ServerResponse } from 'node:http';
import { respondEvents, respondJson, type UpstreamCall, type UpstreamScript } from '#testing';

type Json = Record<string, any>;

export const MODELS = ['gpt-4o-mini', 'gpt-4o'] as const;
/** So much more than any prompt costs that what is estimated is what is used. */
export const ANSWER_TOKENS = 10_000;
/** Of a million tokens, asked and answered. */
export const USD_PER_MILLION: Record<string, readonly [number, number]> = {
  'gpt-4o-mini': [0.15, 0.6],
  'gpt-4o': [2.5, 10],
};
/** Of an answer, in whole millionths. */
export const COST_USD: Record<string, number> = Object.fromEntries(
  Object.entries(USD_PER_MILLION).map(([model, [input, output]]) => [
    model,
    Math.round(10 * input + ANSWER_TOKENS * output) / 1e6,
  ]),
);

/** How the vendor is to end a call, and the call's id. Of no consequence for the cache. */
export const HOW = 'x-client-request-id';
/** `call`: of a tool; `length`: cut off there; `break`: hangs up in mid-answer. */
export const ENDS = ['answer', 'call', 'length', 'empty', 'break', 'fail'] as const;
export type End = (typeof ENDS)[number];

export interface Question {
  id: string;
  stream?: boolean;
  slowly?: boolean;
  fails?: boolean;
  model?: string;
  upstream?: string;
  signal?: AbortSignal;
}

/** What the agent is told: the reason it ended for and its words, or the code of a refusal. */
interface Told {
  headers: Headers;
  text: string;
  id: string | null;
}

/** Rejects where the connection ended first. */
export async function chat(
  url: string,
  headers: Record<string, string>,
  body: object,
  signal?: AbortSignal,
): Promise<Told> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  const text = await response.text();
  const code = /"code": ?"(\w+)"/.exec(text)?.[1];
  if (code !== undefined) return { headers: response.headers, text: code, id: null };
  // Behind comments, where it was held.
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (isStream && !text.endsWith('data: [DONE]\n\n')) throw new Error('The stream has no end.');
  const chunks: Json[] = isStream
    ? text
        .split('\n\n')
        .filter((event) => event.startsWith('data: {'))
        .map((event) => JSON.parse(event.slice('data: '.length)))
    : [JSON.parse(text)];
  const parts = chunks.flatMap(({ choices }) => choices as Json[]);
  const said = parts.map(({ message, delta }) => message ?? delta);
  const words = said.map(({ content }) => content ?? '').join('');
  const calls = said
    .flatMap(({ tool_calls }) => tool_calls ?? [])
    .map((call) => call.function.arguments ?? '');
  const finish = parts.findLast(({ finish_reason }) => finish_reason)?.finish_reason;
  return { headers: response.headers, text: `${finish} ${words}${calls.join('')}`, id: chunks[0]?.id };
}

/**
 * Asks; resolves with `answered`, `killed`, the code of a refusal, or `cut` where the connection ended before either.
 *
 * @param onHeaders hears those of the answer
 */
export async function ask(
  url: string,
  headers: Record<string, string>,
  question: Question,
  onHeaders: (headers: Headers) => void = () => {},
): Promise<string> {
  const {
    id,
    stream = false,
    slowly = false,
    fails = false,
    model = MODELS[0],
    upstream = 'openai',
    signal,
  } = question;
  const content = `${fails ? 'fail' : slowly ? 'slowly' : 'answer'} ${id}`;
  const messages = [{ role: 'user', content }];
  const body = { model, stream, max_tokens: ANSWER_TOKENS, messages };
  try {
    const told = await chat(`${url}/proxy/${upstream}`, headers, body, signal);
    onHeaders(told.headers);
    if (told.headers.get('x-observatory-decision') === 'killed') return 'killed';
    return told.text === `stop To ${id}.` ? 'answered' : told.text;
  } catch {
    return 'cut';
  }
}

export class ChatVendor {
  /** In the order in which they came: the id of each call, all that it says, and by which key of the vendor's. */
  readonly asked: { id: string; text: string; key: string | undefined }[] = [];
  readonly #slow = new Map<string, { call: UpstreamCall; response: ServerResponse }>();

  readonly script: UpstreamScript = (call, response) => {
    if (call.method === 'DELETE') return respondJson(response, 200, { deleted: true });
    const { messages } = call.json as { messages: { content: string }[] };
    const how = call.headers[HOW] ?? messages.at(-1)?.content ?? '';
    const [, pace = '', id = ''] = /(\w+) (\S+)$/.exec(String(how)) ?? [];
    const key = call.headers.authorization?.replace('Bearer ', '');
    this.asked.push({ id, text: messages.map(({ content }) => content).join('\n'), key });
    if (pace === 'slowly') this.#slow.set(id, { call, response });
    else end(call, response, id, pace as End);
  };

  /** What was asked `slowly`, and has come. */
  end(id: string, how: End): void {
    const { call, response } = this.#slow.get(id) as { call: UpstreamCall; response: ServerResponse };
    this.#slow.delete(id);
    end(call, response, id, how);
  }
}

/** The id of an answer at its vendor. */
export const answerIdOf = (id: string): string => `c-${id}`;

function end({ json }: UpstreamCall, response: ServerResponse, id: string, how: End): unknown {
  if (how === 'fail')
    return respondJson(response, 500, { error: { message: 'overloaded', code: 'overloaded' } });
  const { stream, model } = json as { stream: boolean; model: string };
  const usage = { prompt_tokens: 10, completion_tokens: ANSWER_TOKENS, total_tokens: ANSWER_TOKENS + 10 };
  const text = `To ${id}.`;
  const tool = {
    index: 0,
    id: 'call-1',
    type: 'function',
    function: { name: 'look', arguments: `"${text}"` },
  };
  const said = {
    role: 'assistant',
    ...(how === 'call' ? { content: null, tool_calls: [tool] } : { content: how === 'empty' ? '' : text }),
  };
  const finish_reason = how === 'call' ? 'tool_calls' : how === 'length' ? 'length' : 'stop';
  const head = { id: answerIdOf(id), model, usage };
  const choice = { index: 0, finish_reason };
  if (how === 'break') {
    const begun = { ...head, usage: null, choices: [{ index: 0, delta: said }] };
    response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
    // An end of the connection, where the answer's own is due.
    return response.write(stream ? `data: ${JSON.stringify(begun)}\n\n` : '{"choices": [', () =>
      response.socket?.end(),
    );
  }
  if (!stream) return respondJson(response, 200, { ...head, choices: [{ ...choice, message: said }] });
  const chunk = { ...head, choices: [{ ...choice, delta: said }] };
  return respondEvents(response, [`data: ${JSON.stringify(chunk)}\n\n`, 'data: [DONE]\n\n']);
}
