import { afterEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../../api/client';
import { explain, signIn, tokenOfFragment } from './sign-in';

describe('signing in', () => {
  afterEach(() => void vi.unstubAllGlobals());

  it("reads the ready link's token from the fragment", () => {
    expect(tokenOfFragment('#token=obs_op_a%2Bb')).toBe('obs_op_a+b');
    expect(tokenOfFragment('#token=')).toBeNull();
    expect(tokenOfFragment('')).toBeNull();
  });

  it('says how long a throttled person has to wait', () => {
    const failure = explain(new ApiError('rate_limited', 'Too many.', 429), 30, 1_000);
    expect(failure).toMatchObject({ field: null, retryAtMs: 31_000 });
  });

  it('puts a refusal at the field it is about', () => {
    expect(explain(new ApiError('unauthorized', 'No.', 401), Number.NaN, 0).field).toBe('token');
    const named = new ApiError('invalid_fields', 'operator_id: too long', 422, ['operator_id']);
    expect(explain(named, 0, 0).field).toBe('operator_id');
  });

  it('is told where something other than the gateway answers', async () => {
    vi.stubGlobal('fetch', async () => new Response('<!doctype html><title>Back soon</title>'));
    expect(await signIn('token', 'ana')).toEqual({
      field: null,
      message: 'Something other than the gateway answered, with status 200.',
      retryAtMs: null,
    });
  });
});
