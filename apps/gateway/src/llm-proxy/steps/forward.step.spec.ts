import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { UpstreamExchange } from '#adapters/upstream-http';
import type { AgentPrincipal } from '#contracts';
import { ProxyCall } from '../proxy-call.js';
import { RunningCalls } from '../running-calls.js';
import type { UpstreamTarget } from '../upstream-directory.js';
import { forwardStep } from './forward.step.js';

const ORIGIN = 'http://upstream.test';

function callOf(): ProxyCall {
  const target = { upstream: 'openai', agentId: null, path: '/models', query: '' };
  const incoming = { method: 'GET', rawHeaders: [] as string[] } as IncomingMessage;
  const call = new ProxyCall('call-1', 5, target, incoming, {} as ServerResponse);
  call.principal = { kind: 'agent', key_id: 'k', key_name: 'k', tenant_id: 'default' } as AgentPrincipal;
  call.upstream = {
    name: 'openai',
    kind: 'openai',
    origin: ORIGIN,
    basePath: '',
    apiKey: null,
  } as UpstreamTarget;
  return call;
}

test('a call whose upstream fails while it is sent gives its place back once, though its client leaves too', async () => {
  const running = new RunningCalls({ max: 4, onFull: () => {} });
  const step = forwardStep({
    running,
    clientStallMs: 1_000,
    client: {
      send(_request, sink) {
        const exchange = new UpstreamExchange(sink, 1_000);
        exchange.onError(new Error('no such header'));
        return exchange;
      },
    },
  });
  running.enter('default', ORIGIN);
  const call = callOf();
  expect(await step.run?.(call)).toMatchObject({ code: 'upstream_unreachable' });
  call.leave();
  call.leave();
  // One of the tenant's two places is still another call's.
  expect([running.enter('default', ORIGIN), running.enter('default', ORIGIN)]).toEqual([true, false]);
});
