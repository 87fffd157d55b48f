import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { type AgentControl, type AgentPrincipal, sessionKey } from '#contracts';
import { type Dialect, dialectFor } from '#domain/llm-dialects';
import { HeldCalls } from '../held-calls.js';
import { ProxyCall } from '../proxy-call.js';
import { type HoldParts, holdStep } from './hold.step.js';

const PAUSED: AgentControl = { state: 'paused', directives: [] };
const ACTIVE: AgentControl = { state: 'active', directives: [] };

test('a stream that is held a second time, after it waited in the cache step, is begun once', async () => {
  const heads: number[] = [];
  const outgoing = {
    headersSent: false,
    writeHead(status: number) {
      if (this.headersSent) throw new Error('sent already');
      this.headersSent = true;
      heads.push(status);
    },
    write: () => true,
  };
  const target = { upstream: 'openai', agentId: null, path: '/chat/completions', query: '' };
  const body = { model: 'm', stream: true, messages: [{ role: 'user', content: 'Go on' }] };
  const dialect = dialectFor('openai', 'POST', '/chat/completions') as Dialect;
  const call = Object.assign(
    new ProxyCall('call-1', 5, target, {} as IncomingMessage, outgoing as unknown as ServerResponse),
    {
      principal: { kind: 'agent', key_id: 'k', key_name: 'k', tenant_id: 'default' } as AgentPrincipal,
      sessionId: 's1',
      sessionKey: sessionKey('default', 's1'),
      dialect,
      request: dialect.readRequest(body, '/chat/completions'),
    },
  );
  // Of each hold: still paused after the quiet moment, then resumed.
  const answers = [PAUSED, ACTIVE, PAUSED, ACTIVE];
  const parts: HoldParts = {
    desk: {
      answerFor: () => PAUSED,
      noteProxied: () => {},
      holdCall: async () => answers.shift() as AgentControl,
      takeInjections: async () => {},
    },
    held: new HeldCalls(),
    standing: () => undefined,
    holdMs: 10,
    streamHoldMs: 10,
    onChanged: () => {},
    onTakeFailed: () => {},
  };
  const step = holdStep(parts);
  expect(await step.run?.(call)).toBeUndefined();
  const heldOnceMs = call.heldMs;
  expect(await step.run?.(call)).toBeUndefined();
  expect(answers).toEqual([]);
  expect(heads).toEqual([200]);
  expect(call.heldMs).toBeGreaterThan(heldOnceMs);
});
