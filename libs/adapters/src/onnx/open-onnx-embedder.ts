/** Opens one of the two local models, each with its own way of cutting long texts. */
import type { Embedder } from '#contracts/embedding';
import { cutToEnds, cutToHead, MINILM_TEXT_CHARS_MAX, STATIC_TEXT_CHARS_MAX } from '#domain/embedding';
import type { OnnxModel } from './loaded-model.js';
import { QueuedEmbedder } from './onnx-embedder.js';
import { openModel } from './open-model.js';

export interface OnnxEmbedderOptions {
  model: OnnxModel;
  /** Texts accepted at once; the next one is refused as `busy`. Absent: 256. */
  queueCountMax?: number | undefined;
  /** Told of each text that the model is given how long it has waited for that. */
  onWaited?: ((ms: number) => void) | undefined;
}

const QUEUE_COUNT_MAX = 256;

/**
 * Resolves when the model is loaded, checked and warm.
 *
 * @throws Error that names the path and says what to do, if a file is missing or damaged, or the model is another one
 */
export async function openOnnxEmbedder({
  model,
  queueCountMax = QUEUE_COUNT_MAX,
  onWaited = () => {},
}: OnnxEmbedderOptions): Promise<Embedder> {
  const cut =
    model.kind === 'static'
      ? (text: string) => cutToEnds(text, STATIC_TEXT_CHARS_MAX)
      : (text: string) => cutToHead(text, MINILM_TEXT_CHARS_MAX);
  return new QueuedEmbedder(await openModel(model), { queueCountMax, cut, onWaited });
}
