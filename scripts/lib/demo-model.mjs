/**
 * The demo's language model: OpenAI's Chat Completions, streamed or not, from a few sentences. It runs in the demo's own
 * process, behind the gateway's proxy, so that the demo shows what the proxy does without a vendor or a cent.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** @typedef {{ role: string, content?: string | null }} Message */
/** @typedef {{ model: string, messages: Message[], tools?: object[], stream?: boolean, stream_options?: { include_usage?: boolean } }} ChatRequest */
/** @typedef {{ content: string } | { path: string }} Answer words, or the file that is to be read with the tool */

/** What customers ask the help desk, and what it says. */
export const faq = new Map([
  [
    'Where is the parcel that I ordered last week?',
    'It left our warehouse this morning and should be with you tomorrow before noon.',
  ],
  [
    'How do I return a pair of shoes?',
    'Print the label from your order page and drop the box at any post office.',
  ],
  ['Can I pay my order by invoice?', 'Yes, from the second order on, with thirty days to pay.'],
  [
    'Do you deliver to islands without a bridge?',
    'To all that have a post office; it takes two days longer.',
  ],
  ['My discount code is refused. Why?', 'It has expired; I have put a new one into your basket.'],
  ['Is the blue jacket back in stock?', 'In sizes S and L; M follows next week.'],
  ['How long is the guarantee on a bicycle?', 'Two years on everything, five on frames.'],
  ['Can I change the address of an order?', 'As long as it is not packed: yours is not, so go ahead.'],
]);

/** What a review reads, one after the other. */
export const changedFiles = ['src/cart/totals.ts', 'src/cart/discount.ts', 'src/cart/totals.spec.ts'];

const REMARKS =
  'Two remarks: totals.ts rounds each line and again at the end, and nothing tests a discount of 100 %. The rest is good.';
const STUCK = 'I could not open the page of the shop. Shall I try again?';

/** Words for the model that are neither its role nor the gateway's hint, which a model in a rut does not heed. */
const NO_GUIDANCE = /^You (are|seem)\b/;

/** @param {ChatRequest} request @returns {Answer} */
export function answerTo({ messages, tools }) {
  const guidance = messages.find(
    ({ role, content }) => role === 'system' && !NO_GUIDANCE.test(content ?? ''),
  );
  if (guidance !== undefined) return { content: `Understood: ${guidance.content}` };
  if (tools !== undefined) {
    const path = changedFiles[messages.filter(({ role }) => role === 'tool').length];
    return path === undefined ? { content: REMARKS } : { path };
  }
  const asked = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  return { content: faq.get(asked.replace(', please?', '?')) ?? STUCK };
}

/**
 * @param {{ rate: number }} options `rate`: so many times the speed of a model
 * @returns {Promise<{ url: string, close: () => void }>} its base URL
 */
export async function openModel({ rate }) {
  let count = 0;
  const server = createServer(async (request, response) => {
    try {
      const body = await text(request);
      count += 1;
      await answer(JSON.parse(body), body.length, `chatcmpl-demo-${count}`, response, rate);
    } catch {
      // A caller that left in the middle, or nothing a model could read.
      response.destroy();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A demo whose gateway does not start ends all the same.
  server.unref();
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}/v1`, close };
}

/**
 * @param {ChatRequest} request
 * @param {number} requestChars
 * @param {string} id
 * @param {import('node:http').ServerResponse} response
 * @param {number} rate
 */
async function answer(request, requestChars, id, response, rate) {
  const said = answerTo(request);
  const words = 'content' in said ? (said.content.match(/\S+\s*/g) ?? []) : [];
  const toolCall = 'path' in said ? [toolCallOf(id, said.path)] : undefined;
  const finish_reason = toolCall ? 'tool_calls' : 'stop';
  const usage = usageOf(requestChars, words.length || 20);
  const shared = { id, created: Math.floor(Date.now() / 1000), model: request.model };
  await sleep(400 / rate);
  if (!request.stream) {
    const message = { role: 'assistant', content: words.join('') || null, tool_calls: toolCall };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        ...shared,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason }],
        usage,
      }),
    );
    return;
  }
  response.setHeader('content-type', 'text/event-stream');
  const send = (/** @type {object} */ event) =>
    response.write(`data: ${JSON.stringify({ ...shared, object: 'chat.completion.chunk', ...event })}\n\n`);
  const say = (/** @type {object} */ delta, /** @type {string | null} */ finish = null) =>
    send({ choices: [{ index: 0, delta, finish_reason: finish }] });
  say({ role: 'assistant', content: '' });
  if (toolCall) say({ tool_calls: toolCall.map((call, index) => ({ index, ...call })) });
  for (const word of words) {
    await sleep(40 / rate);
    say({ content: word });
  }
  say({}, finish_reason);
  if (request.stream_options?.include_usage) send({ choices: [], usage });
  response.end('data: [DONE]\n\n');
}

/** @param {string} id @param {string} path */
const toolCallOf = (id, path) => ({
  id: `call_${id}`,
  type: 'function',
  function: { name: 'read_file', arguments: JSON.stringify({ path }) },
});

/** About four characters a token, and what an agent's instructions take that are longer than these. */
const INSTRUCTION_TOKENS = 1_500;

/** @param {number} requestChars @param {number} words */
const usageOf = (requestChars, words) => {
  const prompt_tokens = INSTRUCTION_TOKENS + Math.ceil(requestChars / 4);
  const completion_tokens = Math.ceil(words * 1.3);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
};
