/** The bundled model as it is served: in the thread of its caller. */
import { existsSync, readFileSync } from 'node:fs';
import { readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OnnxEmbedder, openOnnxEmbedder } from '#adapters/onnx';
import { StaticFeaturiser } from '#domain/embedding';
import { temporaryFolder } from '#testing/temporary-folder';
import { buildGatherModel } from './build-onnx.js';
import { BUNDLED, copyBundled, replaceBundled, sharedModels, WORKER_URL } from './model-folders.js';

const vectorOf = async (embedder: OnnxEmbedder, text: string): Promise<Float32Array> => {
  const { vector } = await embedder.embed(text);
  if (vector === null) throw new Error('the text is unfit');
  return vector;
};
const cosine = (one: Float32Array, two: Float32Array) =>
  one.reduce((sum, value, at) => sum + value * (two[at] as number), 0);

describe('the bundled embedder', () => {
  let embedder: OnnxEmbedder;

  beforeAll(async () => {
    embedder = await openOnnxEmbedder({ model: { kind: 'static' } });
  });
  afterAll(() => embedder.close());

  it('says what it is, with the thresholds of its model card', () => {
    expect(embedder.description).toEqual({
      model_id: 'observatory-static-384-v1',
      dimension: 384,
      tokens_max: 1_024,
      loopWhenSimilarityAbove: 0.825,
      hitWhenCosineAtLeast: 0.92,
      needsStrictGate: true,
    });
  });

  it.each([
    ['Refund order 12', [-0.034958, -0.005416, 0.020657, 0.010026, -0.073058]],
    ["Don't turn OFF the lights!", [-0.06537, -0.069036, 0.04074, 0.028213, 0.05669]],
    ['帮我查询订单 4821 的状态 please', [0.018694, -0.0354, 0.121307, -0.004306, 0.013356]],
    ['👍 OK 🚀', [0.084317, -0.011462, -0.043327, 0.174948, -0.055353]],
  ])('gives the vector of its specification for "%s"', async (text, expected) => {
    const vector = await vectorOf(embedder, text);
    expect(vector).toHaveLength(384);
    for (const [at, value] of expected.entries()) expect(vector[at]).toBeCloseTo(value, 5);
    expect(cosine(vector, vector)).toBeCloseTo(1, 5);
  });

  it.each(['', '   ', '?!…', '\ud800'])('says that it has nothing to compare in %j', async (text) => {
    expect(await embedder.embed(text)).toEqual({ fitness: 'empty', vector: null });
  });

  it('puts a reworded question nearer than another one', async () => {
    const asked = await vectorOf(embedder, 'How do I reset my password?');
    const reworded = await vectorOf(embedder, 'I need to reset the password, how?');
    const other = await vectorOf(embedder, 'Which trains go to Lyon tomorrow?');
    expect(cosine(asked, reworded)).toBeGreaterThan(0.65);
    expect(cosine(asked, other)).toBeLessThan(0.3);
  });

  it('reads a text of ten million characters by its ends', async () => {
    const line = 'refund order 12 for the customer ';
    const [whole, ends] = [line.repeat(300_000), line.repeat(400)];
    expect(cosine(await vectorOf(embedder, whole), await vectorOf(embedder, ends))).toBeCloseTo(1, 5);
  });

  it('gives everyone his own vector when many ask at once', async () => {
    const texts = Array.from({ length: 64 }, (_, at) => `question number ${at} about order ${at * 7}`);
    const together = await Promise.all(texts.map((text) => vectorOf(embedder, text)));
    for (const [at, text] of texts.entries()) expect(await vectorOf(embedder, text)).toEqual(together[at]);
    expect(embedder.queuedCount).toBe(0);
  });

  it('lets the event loop turn while it computes one text after another', async () => {
    const texts = Array.from({ length: 40 }, (_, at) => `w${at} `.repeat(20_000));
    const done = Promise.all(texts.map((text) => embedder.embed(text))).then(() => 'computed');
    const turned = new Promise((resolve) => setImmediate(resolve, 'turned'));
    expect(await Promise.race([done, turned])).toBe('turned');
    await done;
  });

  it('gives the vectors that ONNX Runtime computes from the same file', async () => {
    const file = join(BUNDLED, 'observatory-static-384.onnx');
    const session = await InferenceSession.create(file);
    const featuriser = new StaticFeaturiser();
    const texts = [
      'a',
      'Refund order 12 for 帮我 please',
      'naïve café 👍'.repeat(40),
      readFileSync('README.md', 'utf8'),
    ];
    for (const text of texts) {
      const ids = BigInt64Array.from(Array.from(featuriser.features(text), BigInt));
      const { embedding } = await session.run({ bucket_ids: new Tensor('int64', ids, [1, ids.length]) });
      const vector = await vectorOf(embedder, text);
      const expected = embedding?.data as Float32Array;
      expect(expected).toHaveLength(384);
      expect(
        Math.max(...vector.map((value, at) => Math.abs(value - (expected[at] as number)))),
        text.slice(0, 20),
      ).toBeLessThan(1e-5);
    }
    await session.release();
  });

  const vectorsFile = join(sharedModels, 'observatory-static-384/test_vectors.json');
  it.skipIf(!existsSync(vectorsFile))(
    `agrees with every test vector of the training${existsSync(vectorsFile) ? '' : ` (needs ${vectorsFile})`}`,
    async () => {
      const vectors: { text: string; n: number; embedding: number[] }[] = JSON.parse(
        readFileSync(vectorsFile, 'utf8'),
      );
      expect(vectors.length).toBeGreaterThan(5);
      for (const { text, n, embedding } of vectors) {
        if (n === 0) continue;
        const long = Array.from({ length: 10_000 }, (_, at) => `w${at}`).join(' ');
        const vector = await vectorOf(embedder, text.startsWith('LONG') ? long : text);
        expect(
          Math.max(...vector.map((value, at) => Math.abs(value - (embedding[at] as number)))),
        ).toBeLessThan(1e-6);
      }
    },
  );
});

describe('a bundled model that is not as it should be', () => {
  const opening = (directory: string, workerUrl: URL | null = null) =>
    openOnnxEmbedder({ model: { kind: 'static', directory }, workerUrl });

  it('opens from a copy', async () => {
    const embedder = await opening(await copyBundled());
    expect(await embedder.embed('ready')).toMatchObject({ fitness: 'fit' });
    await embedder.close();
  });

  it('is refused by the path of what is missing', async () => {
    const folder = await copyBundled();
    await rm(join(folder, 'observatory-static-384.onnx'));
    await expect(opening(folder)).rejects.toThrow(
      `${folder}/observatory-static-384.onnx; restore the folder`,
    );
    const empty = temporaryFolder();
    await expect(opening(empty, WORKER_URL)).rejects.toThrow(
      `${empty}/manifest.json cannot be read (ENOENT)`,
    );
  });

  it('is refused when one byte of it is another', async () => {
    const folder = await copyBundled();
    const file = join(folder, 'observatory-static-384.onnx');
    const bytes = await readFile(file);
    bytes[4_000_000] = (bytes[4_000_000] as number) ^ 1;
    await writeFile(file, bytes);
    await expect(opening(folder)).rejects.toThrow(`the model is damaged: ${file} has 7984909 bytes`);
    await truncate(file, 1_000);
    await expect(opening(folder)).rejects.toThrow(`${file} has 1000 bytes`);
  });

  it('is refused when its manifest is none', async () => {
    const folder = await copyBundled();
    const manifest = join(folder, 'manifest.json');
    await writeFile(manifest, '{"model_id":');
    await expect(opening(folder)).rejects.toThrow(`${manifest} is no JSON object`);
    await writeFile(manifest, '{"model_id":"x","files":[]}');
    await expect(opening(folder)).rejects.toThrow(`${manifest} is not the manifest of a model`);
  });

  it('is refused when its vectors have another dimension, said or unsaid', async () => {
    const table = Array.from({ length: 30_708 }, () => [1, 0, 0, 0]);
    const model = buildGatherModel({ ids: 'bucket_ids', output: 'embedding', table });
    await expect(opening(await replaceBundled(model, 4))).rejects.toThrow(
      'its vectors have 4 numbers, observatory-static-384-v1 has 384',
    );
    await expect(opening(await replaceBundled(model, 384))).rejects.toThrow(
      'its tensor "table" is 30708 x 4, should be 30708 x 256; restore the folder',
    );
  });

  it('is refused when it is no model, or has nothing in it', async () => {
    await expect(opening(await replaceBundled(Buffer.from('not onnx'), 384))).rejects.toThrow(
      'is no ONNX model',
    );
    await expect(opening(await replaceBundled(Buffer.of(8, 8), 384))).rejects.toThrow(
      'is no ONNX model (it has no graph), it may be damaged: restore the folder',
    );
  });
});
