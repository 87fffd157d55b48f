/**
 * A recorded trace as the chat completions its agents would have asked for: each actor has a conversation of its own
 * that grows call by call, and what the model answered comes from the recording. Built from what the agents did and saw
 * only; `label` is never looked at here. Pure.
 *
 *     tools   a step's tool call is a tool call of the answer, what it brought is a tool result of the next request
 *     text    the agent asks for tools in its text (ReAct), and what they brought is the next user message
 */

/** @typedef {import('../../scripts/lib/replay-trace.mjs').RecordedTrace} RecordedTrace */
/** @typedef {import('../../scripts/lib/replay-trace.mjs').RecordedStep & { prompt_text?: string, new_prompt?: boolean, response_text?: string }} ChatStep */
/** @typedef {'tools' | 'text'} Wire */
/** @typedef {{ role: string, content: string | null, tool_calls?: object[], tool_call_id?: string }} Message */
/** @typedef {{ opening: Message[], turns: Message[][], prompt: string, previous: { at: number, step: ChatStep } | null }} Conversation */

/** Characters of a conversation that are sent again: a client with a bounded context drops its oldest turns. */
export const contextCharsMax = 32_000;
const model = 'gpt-4o-mini';
/** Where a recording begins without the message that set the agent to work. */
const taskNotRecorded = '(task not recorded)';

/** @param {RecordedTrace} trace @param {number} at @returns {ChatStep} */
const stepOf = (trace, at) => /** @type {ChatStep} */ (trace.steps[at]);
const callIdOf = (/** @type {number} */ at) => `call_${at}`;

/** @param {ChatStep} step @param {number} at @param {Wire} wire @returns {Message} what the model said at this step */
function answerOf({ response_text: text = '', tool_call: call }, at, wire) {
  if (!call || wire === 'text') return { role: 'assistant', content: text };
  const made = { name: call.name, arguments: JSON.stringify(call.args ?? {}) };
  return {
    role: 'assistant',
    content: text || null,
    tool_calls: [{ id: callIdOf(at), type: 'function', function: made }],
  };
}

/** @param {RecordedTrace} trace @param {number} at @param {Wire} wire @returns {string} the upstream's answer to call `at`, as JSON */
export function completionOf(trace, at, wire) {
  const message = answerOf(stepOf(trace, at), at, wire);
  const tokens = Math.ceil(JSON.stringify(message).length / 4);
  return JSON.stringify({
    id: `chatcmpl-${at}`,
    object: 'chat.completion',
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, finish_reason: message.tool_calls ? 'tool_calls' : 'stop', message }],
    usage: { prompt_tokens: 100, completion_tokens: tokens, total_tokens: 100 + tokens },
  });
}

/** @param {Message[]} messages */
const charsOf = (messages) => messages.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);

/** The oldest turns leave, never the opening nor the newest. @param {Conversation} conversation @returns {Message[]} */
function withinContext({ opening, turns }) {
  let chars = charsOf(opening);
  let from = turns.length;
  while (from > 0) {
    chars += charsOf(turns[from - 1] ?? []);
    if (chars > contextCharsMax && from < turns.length) break;
    from -= 1;
  }
  return [...opening, ...turns.slice(from).flat()];
}

/** @param {RecordedTrace} trace @returns {object[]} the same in every request of a trace, as agents have it */
function declaredTools({ steps }) {
  const names = new Set(steps.flatMap(({ tool_call: call }) => (call ? [call.name] : [])));
  return [...names].map((name) => ({ type: 'function', function: { name, parameters: { type: 'object' } } }));
}

/**
 * @param {RecordedTrace} trace
 * @param {Wire} wire
 * @returns {Generator<string>} one request body per step, in the order of the recording
 */
export function* requestBodies(trace, wire) {
  /** @type {Map<string, Conversation>} */
  const conversations = new Map();
  const tools = wire === 'tools' ? declaredTools(trace) : [];
  for (let at = 0; at < trace.steps.length; at += 1) {
    const step = stepOf(trace, at);
    const actor = step.actor ?? 'agent';
    let conversation = conversations.get(actor);
    if (!conversation) {
      conversation = open(actor, step);
      conversations.set(actor, conversation);
    } else conversation.turns.push(turnBefore(conversation, step, wire));
    conversation.prompt = step.prompt_text ?? '';
    conversation.previous = { at, step };
    yield JSON.stringify({
      model,
      ...(tools.length > 0 && { tools }),
      messages: withinContext(conversation),
    });
  }
}

/** @param {string} actor @param {ChatStep} step @returns {Conversation} */
function open(actor, { prompt_text: prompt }) {
  return {
    opening: [
      {
        role: 'system',
        content: `You are ${actor}. You solve the task you are given, with the tools you have.`,
      },
      { role: 'user', content: prompt || taskNotRecorded },
    ],
    turns: [],
    prompt: '',
    previous: null,
  };
}

/**
 * What stands between the conversation so far and this step: the model's last answer, what its tool call brought, and
 * the message that is new. Many recordings give a tool's result as the next prompt too; it is sent once.
 *
 * @param {Conversation} conversation
 * @param {ChatStep} step
 * @param {Wire} wire
 * @returns {Message[]}
 */
function turnBefore({ previous, prompt }, { prompt_text: newest = '', new_prompt: isNew }, wire) {
  if (!previous) return [];
  const { at, step } = previous;
  const messages = [answerOf(step, at, wire)];
  const result = step.observation_text ?? '';
  if (step.tool_call && wire === 'tools')
    messages.push({ role: 'tool', tool_call_id: callIdOf(at), content: result });
  else if (step.tool_call && result !== '') messages.push({ role: 'user', content: result });
  const isResult = Boolean(step.tool_call) && newest === result;
  if (newest !== '' && !isResult && (isNew || newest !== prompt))
    messages.push({ role: 'user', content: newest });
  return messages;
}
