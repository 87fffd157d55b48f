/**
 * Proxied calls that the semantic loop and the cache have something to say about, for the view tests: a session that
 * asks the same in other words, the same request twice, and similar questions that shadow mode compares.
 */
import { vi } from 'vitest';
import { respondJson, type ScriptedUpstream } from '#testing';
import type { RunningGateway } from '../integration/start-gateway.js';

const SERVING_TIMEOUT_MS = 30_000;

export const guardEnvironment: Readonly<Record<string, string>> = {
  LOOP_DETECTION_ENABLED: 'true',
  // On a busy machine a check takes longer than a call waits for it: it would go on without a hint, and be cached.
  LOOP_EMBEDDING_SIDECAR_TIMEOUT: '5s',
  LLM_CACHE_BACKEND: 'memory',
  LLM_CACHE_SEMANTIC: 'shadow',
};

/** The session that goes round in circles. */
export const REWORDING_SESSION = 'rewording';

export const REWORDINGS = [
  'How do I reset my password?',
  'What do I do to reset my password?',
  'I would like to know how I can reset my password',
  'Please tell me how to reset my password',
];

const SIMILAR = [
  [
    'How can I reset my password on the customer portal?',
    'How do I reset my password on the customer portal?',
  ],
  [
    'Please explain how refunds work for a cancelled booking.',
    'Explain how refunds work for a cancelled booking, please.',
  ],
] as const;

/** Resolves once the sidecar serves and all of it is recorded. */
export async function sendGuardedTraffic(gateway: RunningGateway, upstream: ScriptedUpstream): Promise<void> {
  await untilSidecarServes(gateway);
  upstream.script((call, response, index) => {
    const { model } = call.json as { model: string };
    respondJson(response, 200, {
      id: `chatcmpl-${index}`,
      object: 'chat.completion',
      model,
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: { role: 'assistant', content: 'Open the settings page and follow the link there.' },
        },
      ],
      usage: { prompt_tokens: 1_200, completion_tokens: 80, total_tokens: 1_280 },
    });
  });
  for (const [turn, question] of REWORDINGS.entries())
    await ask(gateway, 'report-writer', REWORDING_SESSION, question, `turn ${turn}`);
  for (let time = 0; time < 3; time += 1)
    await ask(gateway, 'help-desk', `help-${time}`, 'What are the opening hours of the branch in Basel?');
  for (const [index, pair] of SIMILAR.entries())
    for (const [turn, question] of pair.entries())
      await ask(gateway, 'help-desk', `faq-${index}-${turn}`, question);
  await gateway.operator('GET', '/v1/calls');
}

const untilSidecarServes = (gateway: RunningGateway): Promise<void> =>
  vi.waitFor(
    async () => {
      const { body } = await gateway.operator('GET', '/v1/system');
      if (body.sidecar.state !== 'serving')
        throw new Error(`the sidecar does not serve: ${JSON.stringify(body.sidecar)}`);
    },
    { timeout: SERVING_TIMEOUT_MS },
  );

/** @param user told the vendor; requests that differ in it only are the same to the cache */
async function ask(gateway: RunningGateway, agent: string, session: string, content: string, user = 'views') {
  const response = await fetch(`${gateway.url}/agents/${agent}/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-observatory-key': gateway.agentKey,
      'content-type': 'application/json',
      'x-observatory-session': session,
    },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      temperature: 0,
      user,
      messages: [{ role: 'user', content }],
    }),
  });
  await response.arrayBuffer();
}
