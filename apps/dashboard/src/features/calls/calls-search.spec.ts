import { describe, expect, it } from 'vitest';
import type { LlmCall } from '#contracts';
import { callMatcher, isCallFiltered, parseCallsSearch } from './calls-search';

const call = {
  call_id: 'c1',
  agent_id: 'planner',
  session_id: '42',
  model: 'gpt-5',
  decision: 'forwarded',
  status: 429,
} as LlmCall;

describe("the calls' filters", () => {
  it('drop what the address should not hold, and read numbers as ids', () => {
    expect(parseCallsSearch({ session: 42, decision: 'exploded', failed: 'true', agent: '' })).toEqual({
      session: '42',
      failed: true,
    });
  });

  it('take the chosen values exactly', () => {
    expect(callMatcher({})(call)).toBe(true);
    expect(callMatcher({ agent: 'planner', session: '42', model: 'gpt-5' })(call)).toBe(true);
    expect(callMatcher({ agent: 'plan' })(call)).toBe(false);
    expect(callMatcher({ decision: 'killed' })(call)).toBe(false);
  });

  it('call an answer failed that its client could not use', () => {
    const failed = callMatcher({ failed: true });
    expect(failed(call)).toBe(true);
    expect(failed({ ...call, status: 200 })).toBe(false);
    expect(failed({ ...call, status: 200, decision: 'upstream_failed' })).toBe(true);
    expect(failed({ ...call, status: 200, decision: 'killed' })).toBe(false);
  });

  it('know an open call from a filter', () => {
    expect(isCallFiltered(parseCallsSearch({ call: 'c1' }))).toBe(false);
    expect(isCallFiltered(parseCallsSearch({ failed: true }))).toBe(true);
  });
});
