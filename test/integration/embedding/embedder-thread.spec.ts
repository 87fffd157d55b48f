/** The thread behind an embedder: dying, closing, and being absent. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openOnnxEmbedder } from '#adapters/onnx';
import { temporaryFolder } from '#testing/temporary-folder';
import {
  fillWithMinilmShape,
  isMinilmShared,
  makeToyMinilm,
  sharedModels,
  WORKER_URL,
} from './model-folders.js';

const DYING = new URL('./dying-worker.mjs', import.meta.url);
const EXITING = fileURLToPath(new URL('./exit-while-computing.mjs', import.meta.url));
const reasonOf = (asking: Promise<unknown>) =>
  asking.then(
    () => 'answered',
    (error) => error.reason,
  );

describe('the thread of an embedder', () => {
  it.each([
    ['exit', 'the embedding thread ended (7)'],
    ['throw', 'the embedding thread failed: out of order'],
  ])('fails everything it owed when it dies of "%s", and says so', async (text, detail) => {
    const deaths: string[] = [];
    const embedder = await openOnnxEmbedder({
      model: { kind: 'static' },
      workerUrl: DYING,
      onEvent: (event) => event.kind === 'died' && deaths.push(event.detail),
    });
    const asked = [text, 'waiting', 'waiting'].map((each) => reasonOf(embedder.embed(each)));
    expect(await Promise.all(asked)).toEqual(['unavailable', 'unavailable', 'unavailable']);
    expect(embedder.isAlive).toBe(false);
    expect(await reasonOf(embedder.embed('after'))).toBe('unavailable');
    expect(deaths).toEqual([detail]);
    await embedder.close();
  });

  it('is not started when it has not been built', async () => {
    const absent = new URL('absent.js', WORKER_URL);
    await expect(openOnnxEmbedder({ model: { kind: 'static' }, workerUrl: absent })).rejects.toThrow(
      /^the embedding thread failed: /,
    );
  });

  it('answers what it has begun when it is closed, and refuses what waits', async () => {
    const embedder = await openOnnxEmbedder({
      model: { kind: 'minilm', path: await makeToyMinilm() },
      workerUrl: WORKER_URL,
    });
    const asked = ['red', 'green', 'blue'].map((text) => reasonOf(embedder.embed(text)));
    await embedder.close();
    expect(await Promise.all(asked)).toEqual(['answered', 'unavailable', 'unavailable']);
    expect(await reasonOf(embedder.embed('red'))).toBe('unavailable');
  });

  const needs = isMinilmShared ? '' : ` (needs ${sharedModels})`;
  it.skipIf(!isMinilmShared)(
    `lets a process end while it computes, with the exit code that was meant${needs}`,
    async () => {
      const path = temporaryFolder();
      await fillWithMinilmShape(path);
      const children = [5, 40].map((ms) =>
        spawn(process.execPath, [EXITING, path, String(ms)], { stdio: 'inherit' }),
      );
      const ends = await Promise.all(children.map((child) => once(child, 'exit')));
      expect(ends).toEqual([
        [3, null],
        [3, null],
      ]);
    },
  );

  it('gives the same vectors as the model does in the thread of the caller', async () => {
    const here = await openOnnxEmbedder({ model: { kind: 'static' }, workerUrl: null });
    const there = await openOnnxEmbedder({ model: { kind: 'static' }, workerUrl: WORKER_URL });
    for (const text of ['Refund order 12', '帮我查询订单', '']) {
      expect(await here.embed(text)).toEqual(await there.embed(text));
    }
    await Promise.all([here.close(), there.close()]);
  });
});
