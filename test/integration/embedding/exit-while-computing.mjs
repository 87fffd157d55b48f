/** Model's folder, milliseconds: ends with code 3 after those, while the model still has many texts to go. */
import { openOnnxEmbedder } from '#adapters/onnx';

const [, , path, ms] = process.argv;
const embedder = await openOnnxEmbedder({ model: { kind: 'minilm', path } });
const text = 'the order of this customer was late '.repeat(20);
for (let at = 0; at < 200; at += 1) embedder.embed(`${at} ${text}`).catch(() => {});
setTimeout(() => process.exit(3), Number(ms));
