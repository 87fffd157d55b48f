/**
 * Newer models of Anthropic's bind what they think to all that came before it: system, tools and messages. A block of thoughts that comes
 * back behind anything else is refused with 400, and so is every request after it. This upstream checks as the vendor says
 * it does; the client is the vendor's SDK, which knows nothing of the words that an operator put in.
 *
 * @see https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
 */
import { createHash } from 'node:crypto';
import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import { respondEvents, respondJson } from '#testing';
import { AGENT_KEY } from '../start-gateway.js';
import { gateway, startAgain, startOneGateway, upstream, upstreamsAt } from '../start-one-gateway.js';

startOneGateway(upstreamsAt);

const MODEL = 'claude-opus-5-5';
const GUIDANCE = 'Use the staging database, never production.';

const blocksOf = ({ content }: any): any[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

/** What a block is bound to; where a prompt is cached is no part of it. */
const prefixOf = ({ system, tools }: any, messages: any[]): string => {
  const bound = [system ?? null, tools ?? null, messages.map((one) => [one.role, blocksOf(one)])];
  const text = JSON.stringify(bound, (name, value) => (name === 'cache_control' ? undefined : value));
  return createHash('sha256').update(text).digest('base64');
};

interface Upstream {
  isStreamed: boolean;
  /** Messages that a request has when it thinks first. */
  thinksFrom: number;
  /** Of its second answer, beside its words. */
  pageChars?: number;
}

/** As the vendor answers: thinks first, and refuses thoughts that were thought of something else. */
const checking =
  ({ isStreamed, thinksFrom, pageChars = 0 }: Upstream) =>
  (call: any, response: any) => {
    const { messages, ...request } = call.json;
    for (const [at, message] of messages.entries()) {
      const block = blocksOf(message).find(({ type }) => type === 'thinking');
      if (block === undefined || block.signature === prefixOf(request, messages.slice(0, at))) continue;
      const text = `messages.${at}.content.0: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation.`;
      const error = { type: 'error', error: { type: 'invalid_request_error', message: text } };
      return respondJson(response, 400, error);
    }
    if (call.url.endsWith('/count_tokens')) return respondJson(response, 200, { input_tokens: 9 });
    const signature = prefixOf(request, messages);
    const message = { id: `msg_${messages.length}`, type: 'message', role: 'assistant', model: MODEL };
    const usage = { input_tokens: 9, output_tokens: 9 };
    const text = `answer ${messages.length}`;
    if (!isStreamed) {
      const thoughts = messages.length < thinksFrom ? [] : [{ type: 'thinking', thinking: '', signature }];
      const page = { type: 'text', text: 'x'.repeat(pageChars) };
      const content = [...thoughts, ...(messages.length === 3 ? [page] : []), { type: 'text', text }];
      return respondJson(response, 200, {
        ...message,
        content,
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage,
      });
    }
    const start = { type: 'thinking', thinking: '', signature: '' };
    return respondEvents(response, [
      event('message_start', {
        message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage },
      }),
      event('content_block_start', { index: 0, content_block: start }),
      event('content_block_delta', { index: 0, delta: { type: 'signature_delta', signature } }),
      event('content_block_stop', { index: 0 }),
      event('content_block_start', { index: 1, content_block: { type: 'text', text: '' } }),
      event('content_block_delta', { index: 1, delta: { type: 'text_delta', text } }),
      event('content_block_stop', { index: 1 }),
      event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage }),
      event('message_stop', {}),
    ]);
  };

const event = (type: string, data: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

let serial = 0;
/** A client that keeps its history as the vendor asks for: it only adds to it. */
function conversation(how: Upstream) {
  const session = `thinking-${++serial}`;
  const messages: any[] = [];
  const request = { model: MODEL, system: 'You file.', messages };
  const client = () =>
    new Anthropic({
      baseURL: `${gateway.url}/proxy/anthropic`,
      apiKey: AGENT_KEY,
      maxRetries: 0,
      defaultHeaders: { 'x-observatory-session': session },
    });
  upstream.script(checking(how));
  return {
    session,
    /** The client never had its latest answer, and will ask the same again. */
    lose: () => messages.splice(-2),
    count: () => client().messages.countTokens(request),
    async ask(text: string): Promise<string> {
      messages.push({ role: 'user', content: text });
      const asked = { ...request, max_tokens: 99 };
      const answer = how.isStreamed
        ? await client().messages.stream(asked).finalMessage()
        : await client().messages.create(asked);
      messages.push({ role: 'assistant', content: answer.content });
      return (answer.content.at(-1) as any).text;
    },
  };
}

const command = async (session: string, name: string, body: object) => {
  const answer = await gateway.operator('POST', `/v1/sessions/${session}/${name}`, body);
  expect(answer).toMatchObject({ status: 200 });
};
const isKnown = async (session: string) =>
  (await gateway.operator('GET', `/v1/sessions/${session}`)).status === 200;
const sent = () => JSON.stringify(upstream.calls.at(-1)?.json);

test.each([
  ['whole', { isStreamed: false, thinksFrom: 1 }],
  ['streamed', { isStreamed: true, thinksFrom: 1 }],
  ['before its first thought', { isStreamed: false, thinksFrom: 3 }],
])('an agent whose thoughts are bound to what came before goes on after guidance, %s', async (_, how) => {
  const { session, ask } = conversation(how);
  expect(await ask('File the first.')).toBe('answer 1');
  await expect.poll(() => isKnown(session)).toBe(true);
  await command(session, 'inject', { prompt: GUIDANCE });
  // What was thought before stays valid, so it stands behind that.
  expect(await ask('File the second.')).toBe('answer 3');
  expect(sent()).toContain(GUIDANCE);
  // What was thought of it stays valid, so it stays where it was.
  expect(await ask('File the third.')).toBe('answer 5');
  expect(sent().split(GUIDANCE)).toHaveLength(2);
  await command(session, 'inject', { prompt: 'Then stop.' });
  expect(await ask('File the fourth.')).toBe('answer 7');
  expect(await ask('File the fifth.')).toBe('answer 9');
  expect(await gateway.stop()).toBe(0);
  await startAgain();
  expect(await ask('File the sixth.')).toBe('answer 11');
  expect(sent()).toContain(GUIDANCE);
});

test('it goes on, too, after an answer to guidance that is too large to be read', async () => {
  const { session, ask } = conversation({ isStreamed: false, thinksFrom: 1, pageChars: 17 * 1024 * 1024 });
  await ask('File the first.');
  await expect.poll(() => isKnown(session)).toBe(true);
  await command(session, 'inject', { prompt: GUIDANCE });
  await ask('Fetch the pages.');
  expect(await ask('File the third.')).toBe('answer 5');
  expect(sent().split(GUIDANCE)).toHaveLength(2);
});

test('its tokens are counted with what it was told, or the vendor refuses that as it would the request', async () => {
  const { session, ask, count } = conversation({ isStreamed: false, thinksFrom: 1 });
  await ask('File the first.');
  await expect.poll(() => isKnown(session)).toBe(true);
  await command(session, 'inject', { prompt: GUIDANCE });
  await ask('File the second.');
  expect(await count()).toEqual({ input_tokens: 9 });
  expect(sent()).toContain(GUIDANCE);
});

test('an answer of which the client has another, thought without the words, goes without them', async () => {
  const { session, ask, lose } = conversation({ isStreamed: false, thinksFrom: 1 });
  await ask('File the first.');
  await expect.poll(() => isKnown(session)).toBe(true);
  await command(session, 'inject', { prompt: GUIDANCE });
  await ask('File the second.');
  expect(sent()).toContain(GUIDANCE);
  lose();
  expect(await ask('File the second.')).toBe('answer 3');
  expect(await ask('File the third.')).toBe('answer 5');
  expect(sent()).not.toContain(GUIDANCE);
});
