import { describe, expect, it } from 'vitest';
import { ApiError } from './client';
import { toRefusal } from './field-errors';

const refusal = (message: string, fields: string[]) => new ApiError('invalid_fields', message, 422, fields);
const all = () => true;

describe('toRefusal', () => {
  it('puts each sentence at its field', () => {
    const error = refusal(
      'budget_day_usd: must be more than 0. allowed_hours.time_zone: an IANA time zone such as UTC.',
      ['budget_day_usd', 'allowed_hours.time_zone'],
    );
    expect(toRefusal(error, all)).toEqual({
      fields: {
        budget_day_usd: 'More than 0.',
        'allowed_hours.time_zone': 'An IANA time zone such as UTC.',
      },
      general: null,
    });
  });

  it.each([
    ['must be at least 5', 'At least 5.'],
    ['must be at most 0.5', 'At most 0.5.'],
    ['must have at least 16 characters', 'At least 16 characters.'],
    ['must not be empty', 'Must not be empty.'],
  ])('puts "%s" in plain words', (sentence, plain) => {
    expect(toRefusal(refusal(`to: ${sentence}.`, ['to']), all).fields.to).toBe(plain);
  });

  it('says aloud what no field of the form can show', () => {
    const error = refusal('threshold: too big. colour: there is no such field.', ['threshold', 'colour']);
    const { fields, general } = toRefusal(error, (path) => path === 'threshold');
    expect(fields).toEqual({ threshold: 'Too big.' });
    expect(general).toBe(error.message);
  });

  it('keeps the whole sentence where it is led by no field', () => {
    const error = refusal('The window is shorter than the threshold needs.', ['window_size']);
    expect(toRefusal(error, all).fields.window_size).toBe('The window is shorter than the threshold needs.');
  });

  it('shows any other failure in general', () => {
    expect(toRefusal(new ApiError('network', 'The gateway could not be reached.', 0), all)).toEqual({
      fields: {},
      general: 'The gateway could not be reached.',
    });
  });
});
