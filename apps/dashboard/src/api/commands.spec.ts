import { afterEach, describe, expect, it, vi } from 'vitest';
import { sendCommand } from './commands';

/** Requests that are answered when the test says so, in the order in which they were sent. */
const requests: { path: string; answer: (status: number) => void }[] = [];

const hangRequests = () =>
  vi.stubGlobal(
    'fetch',
    (path: string) =>
      new Promise((resolve) => {
        const answer = (status: number) => resolve(Response.json({ status: 'ok' }, { status }));
        requests.push({ path, answer });
      }),
  );

const sent = () => requests.map(({ path }) => path.replace('/v1/sessions/', ''));
/** Longer than any chain of promises. */
const aWhile = () => new Promise((resolve) => setTimeout(resolve, 20));

afterEach(() => {
  vi.unstubAllGlobals();
  requests.length = 0;
});

describe('sendCommand', () => {
  it('lets a resume wait for the guidance and the rewritten message before it, of its session alone', async () => {
    hangRequests();
    const guidance = sendCommand('a', { command: 'inject', prompt: 'Stop.' });
    const rewritten = sendCommand('a', { command: 'rewrite', trace_id: 't', new_content: 'Other.' });
    const resumed = sendCommand('a', { command: 'resume' });
    void sendCommand('b', { command: 'resume' });
    await aWhile();
    expect(sent()).toEqual(['a/inject', 'a/rewrite', 'b/resume']);

    requests[0]?.answer(200);
    await guidance;
    await aWhile();
    expect(sent()).not.toContain('a/resume');
    requests[1]?.answer(200);
    await rewritten;
    await aWhile();
    expect(sent()).toContain('a/resume');
    requests[3]?.answer(200);
    expect(await resumed).toEqual({ status: 'ok' });
  });

  it('sends no resume where the guidance before it failed, and the next one', async () => {
    hangRequests();
    const guidance = sendCommand('a', { command: 'inject', prompt: 'Stop.' });
    const resumed = sendCommand('a', { command: 'resume' });
    requests[0]?.answer(503);
    await expect(guidance).rejects.toThrow('status 503');
    await expect(resumed).rejects.toThrow('status 503');
    expect(sent()).toEqual(['a/inject']);

    void sendCommand('a', { command: 'resume' });
    await aWhile();
    expect(sent()).toEqual(['a/inject', 'a/resume']);
  });

  it('never lets a pause or an end wait', async () => {
    hangRequests();
    void sendCommand('a', { command: 'inject', prompt: 'Stop.' });
    void sendCommand('a', { command: 'pause', reason: 'Look.' });
    void sendCommand('a', { command: 'terminate', reason: 'Enough.' });
    await aWhile();
    expect(sent()).toEqual(['a/inject', 'a/pause', 'a/terminate']);
  });
});
