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

describe('viewEvidence', () => {
  it('sets the stopped request apart and turns the rest newest first', () => {
    const view = viewEvidence([
      evidence({ call_id: '1' }),
      evidence({ call_id: '2', response: 'still on its way' }),
      evidence({ call_id: '3', response: null, tool_calls: [{ name: 'find', arguments: '{}', result: '' }] }),
    ]);
    expect(view.stopped?.call_id).toBe('3');
    expect(view.earlier.map(({ call_id }) => call_id)).toEqual(['2', '1']);
    expect(view.referenceResponse).toBe('still on its way');
    expect(view.stoppedCalls).toEqual(new Set(['find\0{}']));
  });

  it('bears an incident without evidence', () => {
    expect(viewEvidence([])).toMatchObject({ stopped: undefined, earlier: [], referenceResponse: '' });
  });
});

describe('isRepeatedCall', () => {
  const found = { name: 'find', arguments: '{"a":1,"b":2}', result: 'none' };
  const view = viewEvidence([evidence({ tool_calls: [found] })]);

  it('is what the gateway says, which compares more than is shown', () => {
    const reordered = { ...found, arguments: '{"b":2,"a":1}' };
    expect(isRepeatedCall({ ...reordered, is_repeated: true }, view)).toBe(true);
    expect(isRepeatedCall({ ...found, is_repeated: false }, view)).toBe(false);
  });

  it('goes by the texts in an incident of before the gateway said so', () => {
    expect(isRepeatedCall(found, view)).toBe(true);
    expect(isRepeatedCall({ ...found, arguments: '{}' }, view)).toBe(false);
  });
});
