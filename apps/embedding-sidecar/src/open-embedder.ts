/** The embedder that the settings ask for: loaded, warmed up, proven to give unit vectors, and with a memory. */
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { OnnxModel } from '#adapters/onnx';
import { type Embedder, EmbeddingFailure } from '#contracts/embedding';
import { circuitEmbedder, memoEmbedder } from '#domain/embedding';
import type { SidecarConfig, SidecarSecrets } from '#domain/sidecar-settings';
import { systemClock } from '#kernel';

/** Vectors remembered: the loop check and the cache ask for the same text within milliseconds. */
const MEMO_COUNT_MAX = 1_024;
/** Longer than any first computation may take on a slow machine. */
const WARM_UP_TIMEOUT_MS = 60_000;
const WARM_UP_TEXT = 'Warm up: the first real request must not be the one that waits.';
const LENGTH_TOLERANCE = 0.01;
/** Where a model is there and does not work. */
const REMEDIES: Record<SidecarConfig['embedder'], string> = {
  static: 'restore the folder models/observatory-static-384 of the release',
  minilm:
    'set LOOP_EMBEDDING_MODEL_PATH to another copy, or run "npm run models:pull -- minilm" for a new one',
  openai: 'check LOOP_EMBEDDING_BASE_URL and LOOP_EMBEDDING_MODEL, and that the server runs',
};

export interface OpenEmbedderParts {
  config: SidecarConfig;
  secrets: SidecarSecrets;
  /** Milliseconds that a text waited for the model. */
  onWaited: (ms: number) => void;
  /** Nothing more will be computed. @param how `hung`: the model's thread is still there, and at work for ever */
  onDied: (detail: string, how: 'died' | 'hung') => void;
}

/** @throws Error whose text says what is wrong and what to do */
export async function openEmbedder(parts: OpenEmbedderParts): Promise<Embedder> {
  const embedder = parts.config.embedder === 'openai' ? await openRemote(parts) : await openLocal(parts);
  try {
    await warmUp(embedder, REMEDIES[parts.config.embedder]);
  } catch (error) {
    await embedder.close();
    throw error;
  }
  return memoEmbedder(embedder, { clock: systemClock, countMax: MEMO_COUNT_MAX });
}

async function openLocal({ config, onWaited, onDied }: OpenEmbedderParts): Promise<Embedder> {
  const { openOnnxEmbedder } = await import('#adapters/onnx');
  const model: OnnxModel =
    config.embedder === 'minilm'
      ? { kind: 'minilm', path: config.modelPath ?? pulledMinilm() }
      : { kind: 'static', directory: config.modelPath ?? undefined };
  return openOnnxEmbedder({
    model,
    queueCountMax: config.queueMax,
    onEvent: (event) => {
      if (event.kind === 'embedded') onWaited(event.queueMs);
      if (event.kind === 'died' || event.kind === 'hung') onDied(event.detail, event.kind);
    },
  });
}

async function openRemote({ config, secrets, onWaited, onDied }: OpenEmbedderParts): Promise<Embedder> {
  const { HttpEmbedder } = await import('#adapters/embeddings-http');
  const opening = HttpEmbedder.open({
    baseUrl: config.baseUrl as string,
    model: config.model as string,
    apiKey: secrets.apiKey,
    queueCountMax: config.queueMax,
    onWaited,
    // Another model by now: no vector of before meets one of its own. A new start asks what it is.
    onDimensionChanged: (detail) => onDied(detail, 'died'),
  });
  const embedder = await opening.catch((error: unknown) => {
    throw error instanceof EmbeddingFailure ? new Error(`${error.message}; ${REMEDIES.openai}`) : error;
  });
  return circuitEmbedder(embedder, systemClock);
}

/** Where `npm run models:pull -- minilm` puts it. */
const pulledMinilm = (): string =>
  dirname(createRequire(import.meta.url).resolve('#models/all-MiniLM-L6-v2/manifest.json'));

/** @param remedy ends what is said of a model that does not give what it should */
async function warmUp(embedder: Embedder, remedy: string): Promise<void> {
  const { dimension, model_id } = embedder.description;
  const refuse = (what: string): never => {
    throw new Error(`the model ${model_id} ${what}; ${remedy}`);
  };
  const { vector } = await embedder
    .embed(WARM_UP_TEXT, { timeoutMs: WARM_UP_TIMEOUT_MS })
    .catch((error: unknown) => {
      const detail = error instanceof EmbeddingFailure ? error.message : 'internal error';
      return refuse(`failed its warm-up: ${detail}`);
    });
  if (vector === null) return refuse('failed its warm-up: it knows no plain English');
  if (vector.length !== dimension) refuse(`gave ${vector.length} numbers instead of ${dimension}`);
  const length = Math.hypot(...vector);
  if (!(Math.abs(length - 1) <= LENGTH_TOLERANCE)) refuse(`gave a vector of length ${length} instead of 1`);
}
