import { expect, test } from 'vitest';
import { HEADERS } from '#contracts';
import { buildProxyCall } from '../proxy-call.fixture.js';
import type { UpstreamTarget } from '../upstreams/upstream-directory.js';
import { identifyAgainStep } from './identify.step.js';

const AGENT_KEY = 'agent-key';
const OWN_KEY = 'sk-own';

/** @param changes null: it is gone. @param ownKey its client brings one of the vendor's, and the agent key beside it */
function waited(
  changes: Partial<UpstreamTarget> | null,
  { ownKey = false, before = {} as Partial<UpstreamTarget> } = {},
) {
  const call = buildProxyCall();
  call.incoming.headers = ownKey ? { [HEADERS.agentKey]: AGENT_KEY } : {};
  call.incoming.rawHeaders = ['authorization', `Bearer ${ownKey ? OWN_KEY : AGENT_KEY}`];
  call.upstream = { ...call.upstream, ...before };
  const now = changes && { ...call.upstream, ...changes };
  const step = identifyAgainStep({
    authenticate: (_authorization, key) => (key === AGENT_KEY ? call.principal : null),
    upstreams: { find: () => now, list: () => [] },
  });
  return { verdict: step.run?.(call), goesBy: call.upstream.apiKey };
}

test.each([false, true])(
  'a call that waited goes by the key that its upstream has then: own key beside it %s',
  (ownKey) => {
    expect(waited({ apiKey: 'sk-after' }, { ownKey })).toEqual({ verdict: undefined, goesBy: 'sk-after' });
  },
);

test.each<[string, Partial<UpstreamTarget> | null, object, string]>([
  ['it is gone', null, {}, 'upstream_not_found'],
  ['it is elsewhere', { baseUrl: 'http://elsewhere.test' }, {}, 'upstream_changed'],
  ['it speaks another API', { kind: 'anthropic' }, {}, 'upstream_changed'],
  ['its key is gone, and its client has none', { apiKey: null }, {}, 'unauthorized'],
  // Asked again, it would be read for the key that it brings.
  ['its key is gone, and its client has one', { apiKey: null }, { ownKey: true }, 'upstream_changed'],
  ['it has a key since', { apiKey: 'k' }, { ownKey: true, before: { apiKey: null } }, 'upstream_changed'],
])('and goes nowhere where %s', (_what, changes, options, code) => {
  expect(waited(changes, options).verdict).toMatchObject({ code });
});
