/** Opens one of the two local models, each with its own way of cutting long texts. */
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { cutToEnds, cutToHead, MINILM_TEXT_CHARS_MAX, STATIC_TEXT_CHARS_MAX } from '#domain/embedding';
import { startHere, startInWorker } from './inference-host.js';
import { type EmbedderEvent, type OnnxEmbedder, QueuedEmbedder } from './onnx-embedder.js';
import type { ModelSettings } from './protocol.js';

export type OnnxModel =
  /** The bundled one. @param directory another copy of it; absent: models/observatory-static-384 */
  | { kind: 'static'; directory?: string | undefined }
  /** @param path folder with model and tokenizer.json, or the .onnx file in such a folder */
  | { kind: 'minilm'; path: string };

export interface OnnxEmbedderOptions {
  model: OnnxModel;
  /** Texts accepted at once; the next one is refused as `busy`. Absent: 256. */
  queueCountMax?: number | undefined;
  onEvent?: ((event: EmbedderEvent) => void) | undefined;
  /** The compiled onnx-worker.js, for a thread of the model's own; null: the caller's thread. Absent: what suits the model. */
  workerUrl?: URL | null | undefined;
}

const QUEUE_COUNT_MAX = 256;
const OPEN_MS_MAX = 60_000;

/**
 * Resolves when the model is loaded, checked and warm.
 *
 * @throws Error that names the path and says what to do, if a file is missing or damaged, or the model is another one
 */
export async function openOnnxEmbedder(options: OnnxEmbedderOptions): Promise<OnnxEmbedder> {
  const { model, queueCountMax = QUEUE_COUNT_MAX, workerUrl } = options;
  const onEvent = options.onEvent ?? (() => {});
  // The static model takes some 30 us for a question and a millisecond for the longest text; a thread and back takes 100 us.
  const isHere = workerUrl === null || (workerUrl === undefined && model.kind === 'static');
  const start = isHere ? startHere : startInWorker(workerUrl);
  const settings: ModelSettings =
    model.kind === 'static' ? { kind: 'static', directory: model.directory ?? bundledDirectory() } : model;
  const cut = (text: string) =>
    model.kind === 'static' ? cutToEnds(text, STATIC_TEXT_CHARS_MAX) : cutToHead(text, MINILM_TEXT_CHARS_MAX);
  return QueuedEmbedder.open(settings, start, { queueCountMax, onEvent, cut }, OPEN_MS_MAX);
}

function bundledDirectory(): string {
  const manifest = '#models/observatory-static-384/manifest.json';
  try {
    return dirname(createRequire(import.meta.url).resolve(manifest));
  } catch {
    throw new Error(
      'the bundled model is missing: restore the folder models/observatory-static-384 of the release ' +
        `(${manifest} of package.json leads nowhere)`,
    );
  }
}
