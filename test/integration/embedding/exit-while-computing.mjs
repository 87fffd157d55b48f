/** Ends with code 3 after the given milliseconds, while the model still has many texts to go. */
import { openOnnxEmbedder } from '#adapters/onnx';

const embedder = await openOnnxEmbedder({ model: { kind: 'static' } });
const text = Array.from({ length: 1_000 }, (_, at) => `word${at}`).join(' ');
for (let at = 0; at < 200; at += 1) embedder.embed(`${at} ${text}`).catch(() => {});
setTimeout(() => process.exit(3), Number(process.argv[2]));
