import { describe, expect, it } from 'vitest';
import { LIMITS } from '#contracts';
import { parseCommandBody, REWRITE_CHARS_MAX } from './command-body.js';

describe('parseCommandBody', () => {
  it('reads each command from its body', () => {
    expect(parseCommandBody('pause', { reason: 'look' })).toEqual({
      ok: true,
      command: { command: 'pause', reason: 'look' },
    });
    expect(parseCommandBody('rewrite', { trace_id: 't', new_content: { path: '/tmp' } })).toEqual({
      ok: true,
      command: { command: 'rewrite', trace_id: 't', new_content: { path: '/tmp' } },
    });
  });

  it('names a field that the command does not have, beside the one that is missing for it', () => {
    expect(parseCommandBody('resume', { until: 'noon' })).toEqual({
      ok: false,
      fields: ['until'],
      detail: 'there is no such field: until',
    });
    expect(parseCommandBody('pause', { resaon: 'look', __proto: 1 })).toEqual({
      ok: false,
      fields: ['reason', 'resaon', '__proto'],
      detail: 'missing required field: reason; there is no such field: resaon, __proto',
    });
  });

  it('takes a resume with no body, an empty one, or null', () => {
    for (const body of [undefined, '', null, {}]) {
      expect(parseCommandBody('resume', body)).toEqual({ ok: true, command: { command: 'resume' } });
    }
    expect(parseCommandBody('resume', { reason: 'seen' })).toEqual({
      ok: true,
      command: { command: 'resume', reason: 'seen' },
    });
  });

  it('names the missing field, also when it is null or empty', () => {
    for (const body of [undefined, {}, { prompt: null }, { prompt: '' }]) {
      expect(parseCommandBody('inject', body)).toEqual({
        ok: false,
        fields: ['prompt'],
        detail: 'missing required field: prompt',
      });
    }
  });

  it('names every missing field of a rewrite', () => {
    expect(parseCommandBody('rewrite', {})).toMatchObject({
      fields: ['trace_id', 'new_content'],
      detail: 'missing required fields: trace_id, new_content',
    });
  });

  it('tells an invalid value from a missing one', () => {
    expect(parseCommandBody('terminate', { reason: 7 })).toMatchObject({
      fields: ['reason'],
      detail: 'invalid value for reason: expected text, got a number',
    });
    expect(parseCommandBody('pause', { reason: 'x'.repeat(LIMITS.lineCharsMax + 1) })).toMatchObject({
      fields: ['reason'],
      detail: `invalid value for reason: expected text of at most ${LIMITS.lineCharsMax} characters, got ${LIMITS.lineCharsMax + 1} characters`,
    });
    expect(parseCommandBody('rewrite', { trace_id: 't', new_content: ['ls'] })).toMatchObject({
      fields: ['new_content'],
      detail: 'invalid value for new_content: expected text or an object, got an array',
    });
  });

  it('refuses a body that is no object', () => {
    for (const body of [[], 'pause', 3]) {
      expect(parseCommandBody('pause', body)).toMatchObject({ ok: false, fields: ['reason'] });
    }
  });

  it('refuses new content with a number that may have lost its last digits, wherever it stands', () => {
    const parse = (id: unknown) =>
      parseCommandBody('rewrite', { trace_id: 't', new_content: { path: null, rows: [{ id }] } });
    expect(parse(2 ** 53)).toEqual({
      ok: false,
      fields: ['new_content'],
      detail:
        'new_content: send numbers beyond 2^53, such as ids of 64 bits, as text; their last digits are lost',
    });
    for (const id of [2 ** 53 - 1, `${2 ** 53}`]) expect(parse(id).ok).toBe(true);
  });

  it('refuses new content that is nested too deep or too large', () => {
    const nested = (levels: number) => {
      let content: unknown = 'bottom';
      for (let level = 0; level < levels; level += 1) content = { flat: 1, content };
      return content;
    };
    const object = (chars: number) => ({ text: 'x'.repeat(chars - '{"text":""}'.length) });
    const isTaken = (new_content: unknown) => parseCommandBody('rewrite', { trace_id: 't', new_content }).ok;
    expect(
      [LIMITS.jsonDepthMax, LIMITS.jsonDepthMax + 1, 50_000].map((levels) => isTaken(nested(levels))),
    ).toEqual([true, false, false]);
    expect([REWRITE_CHARS_MAX, REWRITE_CHARS_MAX + 1].map((chars) => isTaken(object(chars)))).toEqual([
      true,
      false,
    ]);
    expect(parseCommandBody('rewrite', { trace_id: 't', new_content: nested(50_000) })).toMatchObject({
      fields: ['new_content'],
      detail: `invalid value for new_content: expected JSON of at most ${REWRITE_CHARS_MAX} characters, ${LIMITS.jsonDepthMax} levels deep`,
    });
  });
});
