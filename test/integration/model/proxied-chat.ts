/**
 * The two ends of a proxied call, for the models: an agent that asks, and a vendor that answers at once, or, where the agent
 * asks `slowly`, when it is told to. Every question has an id of its own, so that each is found again on both sides.
 */
import type { ServerResponse } from 'node:http';
import { respondEvents, respondJson, type UpstreamCall, type UpstreamScript } from '#testing';

export const MODELS = ['gpt-4o-mini', 'gpt-4o'] as const;
/** So much more than any prompt costs that what is estimated is what is used. */
export const ANSWER_TOKENS = 10_000;

export interface Question {
  id: string;
  stream?: boolean;
  slowly?: boolean;
  fails?: boolean;
  model?: string;
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
  const { id, stream = false, slowly = false, fails = false, model = MODELS[0] } = question;
  const content = `${fails ? 'fail' : slowly ? 'slowly' : 'now'} ${id}`;
  try {
    const response = await fetch(`${url}/proxy/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({
        model,
        stream,
        max_tokens: ANSWER_TOKENS,
        messages: [{ role: 'user', content }],
      }),
    });
    onHeaders(response.headers);
    const text = await response.text();
    if (response.headers.get('x-observatory-decision') === 'killed') return 'killed';
    if (text.includes(`To ${id}.`)) return 'answered';
    return /"code": ?"(\w+)"/.exec(text)?.[1] ?? `${response.status} ${text}`;
  } catch {
    return 'cut';
  }
}

export class ChatVendor {
  /** In the order in which they came: the id of each question, and all that it says. */
  readonly asked: { id: string; text: string }[] = [];
  readonly #slow = new Map<string, { call: UpstreamCall; response: ServerResponse }>();

  readonly script: UpstreamScript = (call, response) => {
    const { messages } = call.json as { messages: { content: string }[] };
    const [, pace = '', id = ''] = /(fail|slowly|now) (\S+)$/.exec(messages.at(-1)?.content ?? '') ?? [];
    this.asked.push({ id, text: messages.map(({ content }) => content).join('\n') });
    if (pace === 'slowly') this.#slow.set(id, { call, response });
    else if (pace === 'fail') fail(response);
    else answer(call, response, id);
  };

  /** What was asked `slowly`, and has come. */
  end(id: string, how: 'answer' | 'fail'): void {
    const { call, response } = this.#slow.get(id) as { call: UpstreamCall; response: ServerResponse };
    this.#slow.delete(id);
    if (how === 'answer') answer(call, response, id);
    else fail(response);
  }
}

const fail = (response: ServerResponse) =>
  respondJson(response, 500, { error: { message: 'overloaded', code: 'overloaded' } });

function answer({ json }: UpstreamCall, response: ServerResponse, id: string): unknown {
  const { stream, model } = json as { stream: boolean; model: string };
  const usage = { prompt_tokens: 10, completion_tokens: ANSWER_TOKENS, total_tokens: ANSWER_TOKENS + 10 };
  const said = { role: 'assistant', content: `To ${id}.` };
  const head = { id: 'c', model, usage };
  if (!stream)
    return respondJson(response, 200, {
      ...head,
      choices: [{ index: 0, finish_reason: 'stop', message: said }],
    });
  const chunk = { ...head, choices: [{ index: 0, finish_reason: 'stop', delta: said }] };
  return respondEvents(response, [`data: ${JSON.stringify(chunk)}\n\n`, 'data: [DONE]\n\n']);
}
