import { describe, expect, it } from 'vitest';
import type { IncidentEvidence } from '#contracts';
import { isRepeatedCall, pointsOf, scoreTerms, viewEvidence } from './score';

const evidence = (over: Partial<IncidentEvidence>): IncidentEvidence => ({
  call_id: 'c',
  at_ms: 0,
  prompt: 'where is my order',
  response: 'on its way',
  tool_calls: [],
  is_similar_prompt: true,
  is_similar_response: true,
  repeated_tool_call_count: 0,
  prompt_distance: 0,
  ...over,
});

describe('scoreTerms', () => {
  it('adds up to the score, with the weights of the kill switch', () => {
    const terms = scoreTerms({ similar_prompts: 4, similar_responses: 3, repeated_tool_calls: 2, score: 13 });
    expect(terms.map(({ points }) => points)).toEqual([4, 6, 3]);
    expect(terms.reduce((sum, { points }) => sum + points, 0)).toBe(13);
  });
});

describe('pointsOf', () => {
  it('is what one request added', () => {
    expect(pointsOf(evidence({ repeated_tool_call_count: 2 }))).toBe(6);
    expect(pointsOf(evidence({ is_similar_prompt: false, is_similar_response: false }))).toBe(0);
  });
});

const found = { name: 'find', arguments: '{"a":1,"b":2}', result: 'none' };

describe('viewEvidence', () => {
  it('sets the stopped request apart and turns the rest newest first', () => {
    const view = viewEvidence([
      evidence({ call_id: '1' }),
      evidence({ call_id: '2', response: 'still on its way', is_similar_response: false }),
      evidence({ call_id: '3', response: null, tool_calls: [found] }),
    ]);
    expect(view.stopped?.call_id).toBe('3');
    expect(view.earlier.map(({ call_id }) => call_id)).toEqual(['2', '1']);
  });

  it('says what the stopped request is compared with: what is similar, and the answer that others are similar to', () => {
    const view = viewEvidence([
      evidence({ call_id: '1', prompt: 'hello', is_similar_prompt: false, is_similar_response: false }),
      evidence({ call_id: '2' }),
      evidence({ call_id: '3', response: 'still on its way', is_similar_response: false }),
      evidence({ call_id: '4', prompt: 'where is it', response: null, is_similar_response: false }),
      evidence({ call_id: '5', response: null }),
    ]);
    expect(view.similarPrompts).toEqual(['where is it', 'where is my order', 'where is my order']);
    expect(view.reference?.call_id).toBe('3');
    expect(view.similarResponses).toEqual(['on its way']);
  });

  it('has no such answer where none is similar to it', () => {
    const asked = evidence({ is_similar_response: false });
    expect(viewEvidence([asked, asked])).toMatchObject({ reference: undefined, similarResponses: [] });
  });

  it('bears an incident without evidence', () => {
    expect(viewEvidence([])).toMatchObject({ stopped: undefined, earlier: [], reference: undefined });
  });
});

describe('isRepeatedCall', () => {
  const reordered = { ...found, arguments: '{"b":2,"a":1}' };
  const asked = (over: Partial<IncidentEvidence>) =>
    evidence({ repeated_tool_call_count: 1, tool_calls: [found], ...over });
  const [earlier, stopped] = [asked({}), asked({ repeated_tool_call_count: 0 })];
  const view = viewEvidence([earlier, stopped]);

  it('is what the gateway says, which compares more than is shown', () => {
    for (const request of [earlier, stopped]) {
      expect(isRepeatedCall({ ...reordered, is_repeated: true }, request, view)).toBe(true);
      expect(isRepeatedCall({ ...found, is_repeated: false }, request, view)).toBe(false);
    }
  });

  it('goes by the texts in an incident of before the gateway said so', () => {
    for (const request of [earlier, stopped]) {
      expect(isRepeatedCall(found, request, view)).toBe(true);
      expect(isRepeatedCall(reordered, request, view)).toBe(false);
    }
  });

  it('is none of a request that did not count for its calls', () => {
    const idle = asked({ repeated_tool_call_count: 0 });
    const other = viewEvidence([idle, stopped]);
    expect(isRepeatedCall(found, idle, other)).toBe(false);
    expect(isRepeatedCall(found, stopped, other)).toBe(false);
  });
});
