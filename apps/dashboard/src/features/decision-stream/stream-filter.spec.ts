import { describe, expect, it } from 'vitest';
import type { StepView } from '#contracts';
import { parseStreamSearch, parseWords, streamMatcher, writeStreamSearch } from './stream-filter';

const step = {
  meta: { trace_id: 'trace-1', timestamp: '2026-01-01T00:00:00Z' },
  identity: { agent_id: 'Planner-1', agent_type: 'planner', capability_version: '1.0.0' },
  cognition: { intent: 'Find the cheapest flight', entropy_score: 0.2, entropy_severity: 'loop' },
  action: { status: 'failure', tool_call: 'search_flights' },
  gateway: {
    session_id: 'ses-9',
    seq: 1,
    received_at_ms: 0,
    window_size: 5,
    held: false,
    rewritten_by: null,
  },
} as StepView;

const none = parseStreamSearch({});
const matches = (over: Partial<typeof none>) => streamMatcher({ ...none, ...over })(step);

describe("the stream's filter", () => {
  it('survives a trip through the address, numbers included', () => {
    const search = { ...none, tab: 'violations', q: '42', agent: '7', severity: 'loop' } as const;
    expect(parseStreamSearch(writeStreamSearch(search))).toEqual(search);
    expect(parseStreamSearch({ q: 42, status: 'exploded' })).toMatchObject({ q: '42', status: '' });
  });

  it('wants every word, anywhere in the step', () => {
    expect(matches({ q: 'cheapest planner' })).toBe(true);
    expect(matches({ q: 'cheapest writer' })).toBe(false);
    expect(matches({ q: 'TRACE-1' })).toBe(true);
  });

  it('looks in one place for a word that names it', () => {
    expect(parseWords('agent:a x http://b')).toEqual([
      { place: 'agent', text: 'a' },
      { place: null, text: 'x' },
      { place: null, text: 'http://b' },
    ]);
    expect(matches({ q: 'tool:flights' })).toBe(true);
    expect(matches({ q: 'agent:flights' })).toBe(false);
  });

  it('takes the chosen values exactly', () => {
    expect(matches({ severity: 'loop', status: 'failure', session: 'ses-9', tool: 'search_flights' })).toBe(
      true,
    );
    expect(matches({ agent: 'Planner' })).toBe(false);
  });
});
