import { afterEach, describe, expect, it, vi } from 'vitest';
import { api, onApiDone } from './client';

const answers = (status: number) => vi.stubGlobal('fetch', async () => Response.json({}, { status }));

describe('onApiDone', () => {
  afterEach(() => void vi.unstubAllGlobals());

  it('hears of what was done, not of questions, refusals and silence', async () => {
    const done = vi.fn();
    onApiDone(done);
    answers(200);
    await api.get('/v1/sessions');
    answers(409);
    await expect(api.post('/v1/sessions/a/pause')).rejects.toThrow();
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('refused')));
    await expect(api.post('/v1/sessions/a/pause')).rejects.toThrow('cannot be reached');
    expect(done).not.toHaveBeenCalled();
    answers(200);
    await api.post('/v1/sessions/a/pause');
    expect(done).toHaveBeenCalledOnce();
  });
});
