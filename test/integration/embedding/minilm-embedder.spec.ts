/**
 * MiniLM's path in its own thread, built into dist: with a model that counts tokens, whose answers are known; and where
 * the shared folder is at hand, with the real tokenizer and a model of MiniLM's shape with random weights. The real
 * weights are not run here.
 */
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type OnnxEmbedder, openOnnxEmbedder } from '#adapters/onnx';
import { temporaryFolder } from '#testing/temporary-folder';
import {
  FAILING_WORD,
  fillWithMinilmShape,
  isMinilmShared,
  makeToyMinilm,
  minilmTokenizer,
  sharedModels,
  WORKER_URL,
} from './model-folders.js';

type Minilm = { path: string };

const opening = (model: Minilm, workerUrl: URL | null = null) =>
  openOnnxEmbedder({ model: { kind: 'minilm', ...model }, workerUrl });
async function open(model: Minilm): Promise<OnnxEmbedder> {
  const embedder = await opening(model, WORKER_URL);
  onTestFinished(() => embedder.close());
  return embedder;
}

describe('the MiniLM embedder, with a model that counts tokens', () => {
  /** How often each of its tokens occurs, as a vector of unit length. */
  const counted = (counts: Record<number, number>) => {
    const norm = Math.hypot(...Object.values(counts));
    return Array.from({ length: 384 }, (_, at) => (counts[at] ?? 0) / norm);
  };
  const CLS = 2;
  const SEP = 3;
  const RED = 4;
  const GREEN = 5;

  it('pools over all tokens, the marks among them, to unit length', async () => {
    const embedder = await open({ path: await makeToyMinilm() });
    const { vector } = await embedder.embed('Red, red GREEN'.replace(',', ''));
    const expected = counted({ [CLS]: 1, [SEP]: 1, [RED]: 2, [GREEN]: 1 });
    for (const [at, value] of expected.entries()) expect(vector?.[at]).toBeCloseTo(value, 6);
  });

  it('cuts at 256 tokens and keeps both marks', async () => {
    const embedder = await open({ path: await makeToyMinilm() });
    const { vector } = await embedder.embed(`${'red '.repeat(254)}${'green '.repeat(100)}`);
    const expected = counted({ [CLS]: 1, [SEP]: 1, [RED]: 254 });
    for (const [at, value] of expected.entries()) expect(vector?.[at]).toBeCloseTo(value, 6);
  });

  it('cuts ten million characters before it reads them', async () => {
    const embedder = await open({ path: await makeToyMinilm() });
    const long = await embedder.embed('red '.repeat(2_500_000));
    expect(long).toEqual(await embedder.embed('red '.repeat(300)));
  });

  it('compares nothing of which more than a tenth is unknown', async () => {
    const embedder = await open({ path: await makeToyMinilm() });
    expect(await embedder.embed(`${'red '.repeat(9)} 订`)).toMatchObject({ fitness: 'fit' });
    expect(await embedder.embed(`${'red '.repeat(8)} 订`)).toEqual({
      fitness: 'unknown_tokens',
      vector: null,
    });
    expect(await embedder.embed(' \u0000 ')).toEqual({ fitness: 'empty', vector: null });
  });

  it('goes on after a text that the model fails on, whose failure does not name it', async () => {
    const embedder = await open({ path: await makeToyMinilm() });
    const failure = await embedder.embed(`red ${FAILING_WORD} red`).catch((error) => error);
    expect(failure).toMatchObject({ name: 'EmbeddingFailure', reason: 'failed' });
    expect(failure.message).not.toContain(FAILING_WORD);
    expect(await embedder.embed('red')).toMatchObject({ fitness: 'fit' });
  });

  it('finds the model by any of its names, and is named after its edition', async () => {
    const named = async (model: Minilm) => (await open(model)).description.model_id;
    expect(await named({ path: await makeToyMinilm() })).toBe('all-MiniLM-L6-v2-int8');
    expect(await named({ path: await makeToyMinilm({ modelFile: 'model_int8.onnx' }) })).toBe(
      'all-MiniLM-L6-v2-int8',
    );
    const fp32 = await makeToyMinilm({ modelFile: 'model.onnx' });
    expect(await named({ path: fp32 })).toBe('all-MiniLM-L6-v2-fp32');
    expect(await named({ path: join(fp32, 'model.onnx') })).toBe('all-MiniLM-L6-v2-fp32');
  });

  it('opens a folder as it is published, the model one folder down', async () => {
    const folder = await makeToyMinilm();
    await mkdir(join(folder, 'onnx'));
    await rename(join(folder, 'model_quantized.onnx'), join(folder, 'onnx/model_quantized.onnx'));
    expect(await (await open({ path: folder })).embed('red')).toMatchObject({ fitness: 'fit' });
  });

  it('has the thresholds of its own', async () => {
    expect((await open({ path: await makeToyMinilm() })).description).toEqual({
      model_id: 'all-MiniLM-L6-v2-int8',
      dimension: 384,
      tokens_max: 256,
      loopWhenSimilarityAbove: 0.95,
      hitWhenCosineAtLeast: 0.92,
      needsStrictGate: false,
    });
  });
});

describe('a MiniLM that is not as it should be', () => {
  const remedy = 'npm run models:pull -- minilm';

  it('is refused by the path that leads nowhere', async () => {
    const path = join(temporaryFolder(), 'absent');
    await expect(opening({ path }, WORKER_URL)).rejects.toThrow(
      `there is no model at ${path}: run "${remedy}"`,
    );
  });

  it('is refused when the folder has no model', async () => {
    const empty = temporaryFolder();
    await expect(opening({ path: empty })).rejects.toThrow(`${empty} has no model_quantized.onnx`);
  });

  it('is refused without its tokenizer, or with one that is damaged or another', async () => {
    const without = await makeToyMinilm({ tokenizer: null });
    await expect(opening({ path: without })).rejects.toThrow(
      `${without}/tokenizer.json cannot be read (ENOENT)`,
    );
    await writeFile(join(without, 'tokenizer.json'), '{"model":');
    await expect(opening({ path: without })).rejects.toThrow('tokenizer.json is no JSON object');
    const other = await makeToyMinilm({ tokenizer: { model: { type: 'WordPiece' } } });
    await expect(opening({ path: other })).rejects.toThrow('tokenizer.json');
  });

  it('is refused when the file is damaged', async () => {
    const folder = await makeToyMinilm();
    const file = join(folder, 'model_quantized.onnx');
    await writeFile(file, Buffer.alloc(1_000, 7));
    await expect(opening({ path: folder })).rejects.toThrow(`${file} is no model that can be run`);
    await rm(file);
    await mkdir(file);
    await expect(opening({ path: folder })).rejects.toThrow(`${folder} has no model_quantized.onnx`);
  });

  it('is refused when its vectors have another dimension', async () => {
    await expect(opening({ path: await makeToyMinilm({ dimension: 12 }) })).rejects.toThrow(
      'its vectors have 12 numbers, all-MiniLM-L6-v2-int8 has 384',
    );
  });

  it('is refused when it takes other inputs', async () => {
    await expect(opening({ path: await makeToyMinilm({ ids: 'pixels' }) })).rejects.toThrow('not input_ids');
  });
});

describe.skipIf(!isMinilmShared)(
  `the MiniLM embedder, with the real tokenizer and random weights${isMinilmShared ? '' : ` (needs ${sharedModels})`}`,
  () => {
    let folder: string;
    let embedder: OnnxEmbedder;
    const tokens: number[] = [];

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'observatory-model-'));
      await fillWithMinilmShape(folder);
      embedder = await openOnnxEmbedder({
        model: { kind: 'minilm', path: folder },
        workerUrl: WORKER_URL,
        onEvent: (event) => {
          if (event.kind === 'embedded') tokens.push(event.tokensCount);
        },
      });
    });
    afterAll(async () => {
      await embedder.close();
      await rm(folder, { recursive: true });
    });

    it('gives the same unit vector for the same text, and another for another', async () => {
      const [one, again, other] = await Promise.all(
        ['That is a happy person', 'That is a happy person', 'Today is a sunny day'].map((text) =>
          embedder.embed(text),
        ),
      );
      expect(one?.vector).toHaveLength(384);
      expect(Math.hypot(...(one?.vector ?? []))).toBeCloseTo(1, 5);
      expect(again).toEqual(one);
      expect(other).not.toEqual(one);
    });

    it('counts the tokens that BERT counts, up to 256', async () => {
      tokens.length = 0;
      await embedder.embed('That is a happy person');
      await embedder.embed('Embeddings are unaffable.');
      await embedder.embed('the quick brown fox '.repeat(500));
      expect(tokens).toEqual([7, 11, 256]);
    });

    it('cuts words into the pieces of the published vocabulary', () => {
      const json = (name: string) => JSON.parse(readFileSync(join(minilmTokenizer, name), 'utf8'));
      const tokenizer = new Tokenizer(json('tokenizer.json'), json('tokenizer_config.json'));
      const vocabulary = readFileSync(join(minilmTokenizer, 'vocab.txt'), 'utf8').split('\n');
      const piecesOf = (text: string) => tokenizer.encode(text).ids.map((id: number) => vocabulary[id]);
      expect(tokenizer.encode('That is a happy person').ids).toEqual([
        101, 2008, 2003, 1037, 3407, 2711, 102,
      ]);
      expect(piecesOf('Embeddings are unaffable.').join(' ')).toBe(
        '[CLS] em ##bed ##ding ##s are una ##ffa ##ble . [SEP]',
      );
      expect(piecesOf('Zoë 订 x').join(' ')).toBe('[CLS] zoe [UNK] x [SEP]');
    });

    it('reads nothing behind the 256th token', async () => {
      const head = 'the quick brown fox '.repeat(70);
      expect(await embedder.embed(`${head} and then`)).toEqual(await embedder.embed(`${head} but never`));
    });

    it('finds Chinese unfit, and English with a name in it fit', async () => {
      expect(await embedder.embed('帮我查询一下我的订单状态')).toEqual({
        fitness: 'unknown_tokens',
        vector: null,
      });
      expect(await embedder.embed('Where is the order of Zoë Müller?')).toMatchObject({ fitness: 'fit' });
    });
  },
);
