import { afterEach, describe, expect, it, vi } from 'vitest';
import { api, onApiDone, onApiUnauthorized } from './client';

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
    await expect(api.post('/v1/sessions/a/pause')).rejects.toThrow('The gateway could not be reached.');
    expect(done).not.toHaveBeenCalled();
    answers(200);
    await api.post('/v1/sessions/a/pause');
    expect(done).toHaveBeenCalledOnce();
  });
});

/** What else may answer at the gateway's address: a proxy's page for maintenance, another program on its port. */
const PAGE = '<!doctype html><title>Back soon</title>';

const pages = (status: number) =>
  vi.stubGlobal('fetch', async () => new Response(status === 204 ? null : PAGE, { status }));

describe('an answer that is not the gateway’s', () => {
  afterEach(() => void vi.unstubAllGlobals());

  it('is no success: what was asked for was not done', async () => {
    const done = vi.fn();
    onApiDone(done);
    pages(200);
    const refusal = {
      reason: 'unexpected_answer',
      message: 'Something other than the gateway answered, with status 200.',
    };
    await expect(api.post('/v1/sessions/a/pause')).rejects.toMatchObject(refusal);
    await expect(api.get('/v1/sessions')).rejects.toMatchObject(refusal);
    expect(done).not.toHaveBeenCalled();
  });

  it('fails with the status of what answered', async () => {
    pages(502);
    await expect(api.get('/v1/sessions')).rejects.toThrow('The gateway answered with status 502.');
  });

  it('ends no login where it asks for one of its own', async () => {
    const unauthorized = vi.fn();
    onApiUnauthorized(unauthorized);
    pages(401);
    await expect(api.get('/v1/sessions')).rejects.toThrow('Reload the page to log in there.');
    expect(unauthorized).not.toHaveBeenCalled();
    const refusal = { reason: 'unauthorized', detail: 'Log in.' };
    vi.stubGlobal('fetch', async () => Response.json(refusal, { status: 401 }));
    await expect(api.get('/v1/sessions')).rejects.toThrow('Log in.');
    expect(unauthorized).toHaveBeenCalledExactlyOnceWith(false);
  });

  it('is not meant where the gateway has nothing to say', async () => {
    pages(204);
    expect(await api.delete('/v1/upstreams/a')).toBeNull();
  });

  it('is none either where it breaks off', async () => {
    const brokenOff = new ReadableStream({
      pull: (controller) => controller.error(new TypeError('terminated')),
    });
    vi.stubGlobal('fetch', async () => new Response(brokenOff, { status: 200 }));
    await expect(api.post('/v1/sessions/a/pause')).rejects.toMatchObject({ reason: 'network' });
  });
});
