import { expect, it } from 'vitest';
import type { AgentPrincipal } from '#contracts';
import { buildProxyCall } from '../proxy-call.fixture.js';
import { type IdentifyParts, identifyStep } from './identify.step.js';

const PRINCIPAL: AgentPrincipal = {
  kind: 'agent',
  key_id: 'k',
  key_name: 'k',
  tenant_id: 'default',
  agent_ids: ['agent-1'],
};

it.each<[string, Partial<IdentifyParts>, string[]]>([
  ['no key', { authenticate: () => null }, ['unauthorized']],
  ['another tenant', { agentFor: () => null }, ['forbidden']],
  ['no such upstream', { upstreams: { find: () => null, list: () => [] } }, ['upstream_not_found']],
  ['nothing wrong', {}, []],
])('a call that nobody has yet is counted where it is refused: %s', (_, parts, codes) => {
  const counted: string[] = [];
  const call = buildProxyCall();
  const { upstream } = call;
  const step = identifyStep({
    authenticate: () => PRINCIPAL,
    agentFor: (principal) => principal,
    upstreams: { find: () => upstream, list: () => [] },
    onRefused: (code) => counted.push(code),
    ...parts,
  });
  const verdict = step.run?.(call);
  expect(verdict === undefined ? [] : [verdict]).toMatchObject(codes.map((code) => ({ code })));
  expect(counted).toEqual(codes);
});
