/** Proxied calls of several agents for the view tests: two vendors, tools, errors, a budget, one killed. */
import { respondJson, type ScriptedUpstream } from '#testing';
import type { RunningGateway } from '../integration/start-gateway.js';

const QUESTIONS = [
  'Summarise the incident of last night.',
  'Which customers are affected?',
  'Draft a note to the on-call engineer.',
  'Compare the error rates of both regions.',
  'What changed in the last deployment?',
];

/** Resolves once all of it is recorded. */
export async function sendProxiedTraffic(gateway: RunningGateway, upstream: ScriptedUpstream): Promise<void> {
  upstream.script((call, response, index) => {
    const { model } = call.json as { model: string };
    if (index % 11 === 10) return respondJson(response, 500, { error: { message: 'overloaded' } });
    const text = index % 3 === 0 ? 'Still looking into it.' : `Answer ${index}: ${QUESTIONS[index % 5]}`;
    return model.startsWith('claude')
      ? respondJson(response, 200, {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model,
          content: [{ type: 'tool_use', id: 'toolu_1', name: 'query_logs', input: { region: index } }],
          stop_reason: 'tool_use',
          usage: { input_tokens: 4_000, cache_read_input_tokens: 12_000, output_tokens: 900 },
        })
      : respondJson(response, 200, {
          id: 'chatcmpl-1',
          object: 'chat.completion',
          model,
          choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: text } }],
          usage: { prompt_tokens: 18_000, completion_tokens: 2_400, total_tokens: 20_400 },
        });
  });
  await gateway.operator('PATCH', '/v1/agents/incident-analyst/policy', {
    budget_day_usd: 2,
    budget_month_usd: 40,
    requests_per_minute: 120,
    allowed_hours: { time_zone: 'Europe/Zurich', days: [1, 2, 3, 4, 5, 6, 7], from: '00:00', to: '00:00' },
  });
  for (let turn = 0; turn < 12; turn += 1) {
    await chat(gateway, 'incident-analyst', 'gpt-4o', QUESTIONS[turn % 5] as string, `case-${turn % 3}`);
    await chat(
      gateway,
      'release-notes',
      'gpt-4o-mini',
      `${QUESTIONS[(turn * 2) % 5]} (${turn})`,
      `notes-${turn}`,
    );
    await messages(gateway, 'log-reader', `Look at region ${turn}.`);
  }
  await chat(gateway, 'lab', 'our-own-finetune', 'How much do you cost?', 'lab');
  upstream.script((_call, response) =>
    respondJson(response, 200, {
      id: 'chatcmpl-2',
      object: 'chat.completion',
      model: 'gpt-4o-mini',
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: {
            role: 'assistant',
            content: 'The order is still being processed. Please wait a moment.',
          },
        },
      ],
      usage: { prompt_tokens: 600, completion_tokens: 40, total_tokens: 640 },
    }),
  );
  for (let request = 0; request < 7; request += 1)
    await chat(
      gateway,
      'order-bot',
      'gpt-4o-mini',
      `Where is order ${4_700 + request}? Mail ada@example.org.`,
      'orders',
    );
  await gateway.operator('GET', '/v1/calls');
}

const chat = (gateway: RunningGateway, agent: string, model: string, content: string, session: string) =>
  post(gateway, `/agents/${agent}/proxy/openai/v1/chat/completions`, session, {
    model,
    messages: [{ role: 'user', content }],
  });

const messages = (gateway: RunningGateway, agent: string, content: string) =>
  post(gateway, `/agents/${agent}/proxy/anthropic/v1/messages`, 'logs', {
    model: 'claude-sonnet-4-5',
    max_tokens: 1_000,
    messages: [{ role: 'user', content }],
  });

async function post(gateway: RunningGateway, path: string, session: string, body: object): Promise<void> {
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      'x-observatory-key': gateway.agentKey,
      'content-type': 'application/json',
      'x-observatory-session': session,
    },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
}
