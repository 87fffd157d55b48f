/** The embedders that can be measured here, and the vectors of many texts, each computed once. */
import { openOnnxEmbedder } from '#adapters/onnx';

/** @import { Embedder, EmbedderDescription } from '#contracts' */
/** @typedef {{ name: string, description: EmbedderDescription, cosine: (one: string, other: string) => number,
 *   vectorOf: (text: string) => Float32Array | null, learn: (texts: Iterable<string>) => Promise<void>, close: () => Promise<void> }} Measured */

/** Texts on their way at once. */
const inFlight = 128;
/** What any model of meaning tells apart; random weights do not. */
const same = ['How do I reset my password?', 'I forgot my password, how can I change it?'];
const unrelated = 'The cat sleeps on the warm roof.';

/** @param {Float32Array} one @param {Float32Array} other */
function dot(one, other) {
  let sum = 0;
  for (let at = 0; at < one.length; at += 1)
    sum += /** @type {number} */ (one[at]) * /** @type {number} */ (other[at]);
  return sum;
}

/** @param {string} name @param {Embedder} embedder @returns {Measured} */
function measured(name, embedder) {
  /** @type {Map<string, Float32Array | null>} */
  const vectors = new Map();
  const vectorOf = (/** @type {string} */ text) => {
    const vector = vectors.get(text);
    if (vector === undefined) throw new Error('a text was not learned');
    return vector;
  };
  return {
    name,
    description: embedder.description,
    vectorOf,
    cosine: (one, other) => {
      const [left, right] = [vectorOf(one), vectorOf(other)];
      return left && right ? dot(left, right) : 0;
    },
    learn: async (texts) => {
      const missing = [...new Set(texts)].filter((text) => !vectors.has(text));
      for (let from = 0; from < missing.length; from += inFlight) {
        const batch = missing.slice(from, from + inFlight);
        const found = await Promise.all(batch.map((text) => embedder.embed(text)));
        for (const [at, text] of batch.entries()) vectors.set(text, found[at]?.vector ?? null);
      }
    },
    close: () => embedder.close(),
  };
}

/** @returns {Promise<{ embedders: Measured[], leftOut: string[] }>} */
export async function openEmbedders() {
  const embedders = [measured('static', await openOnnxEmbedder({ model: { kind: 'static' } }))];
  const leftOut = [];
  const path = process.env.LOOP_EMBEDDING_MODEL_PATH;
  if (!path)
    leftOut.push('minilm: not measured, LOOP_EMBEDDING_MODEL_PATH names no folder with its weights.');
  else {
    const minilm = measured('minilm', await openOnnxEmbedder({ model: { kind: 'minilm', path } }));
    await minilm.learn([...same, unrelated]);
    const [one = '', other = ''] = same;
    if (minilm.cosine(one, other) - minilm.cosine(one, unrelated) > 0.2) embedders.push(minilm);
    else {
      leftOut.push(
        'minilm: not measured, the weights that were found tell no two texts apart (a model for tests).',
      );
      await minilm.close();
    }
  }
  return { embedders, leftOut };
}
