/** An agent that asks for its order through the proxy, again and again. */
import type { RunningGateway } from '../integration/start-gateway.js';

export const ORDER_BOT = 'order-bot';

/** @param sampling further members of the request */
export async function askForOrder(
  { url, agentKey }: RunningGateway,
  orderId: number,
  sampling: { temperature?: number } = {},
): Promise<void> {
  const { body } = await fetch(`${url}/agents/${ORDER_BOT}/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-observatory-key': agentKey,
      'x-observatory-session': 'orders',
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: `Where is order ${orderId}? I cannot find it anywhere.` }],
      ...sampling,
    }),
  });
  await body?.cancel();
}
