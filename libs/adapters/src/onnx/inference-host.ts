/** Where a model runs: in a thread of its own, or in the caller's. The embedder in front knows no difference. */
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { deferred } from '#kernel';
import type { InferenceAnswer, InferenceRequest, ModelSettings, WorkerData } from './protocol.js';
import { makeGate, stopGate } from './run-gate.js';

/**
 * ONNX Runtime 1.29 and later report sessions and hardware to their maker from Linux and macOS too, unless this is set
 * before the library starts. It is read by native code, so it must be set here: a thread's own environment is a copy.
 */
process.env.ORT_DISABLE_TELEMETRY ??= '1';

export interface HostListener {
  onAnswer(answer: InferenceAnswer): void;
  /** Once, when the host ended, asked or not. */
  onEnd(reason: string): void;
}

export interface InferenceHost {
  post(request: InferenceRequest): void;
  /** Answers what it was given, then resolves when nothing of it is left, or it has taken too long. */
  end(): Promise<void>;
}

export type StartInferenceHost = (settings: ModelSettings, listener: HostListener) => InferenceHost;

const WORKER_URL = new URL(import.meta.resolve('#built/libs/adapters/src/onnx/onnx-worker.js'));

/** A thread that does not end by itself within this is left alone: force would abort the process. */
const END_MS_MAX = 5_000;

/** @param workerUrl the built onnx-worker.js */
export const startInWorker =
  (workerUrl: URL = WORKER_URL): StartInferenceHost =>
  (settings, { onAnswer, onEnd }) => {
    const gate = makeGate();
    const worker = new Worker(workerUrl, {
      workerData: { settings, gate } satisfies WorkerData,
      name: 'onnx',
      // The worker is built, also where its caller runs from the sources under another loader.
      execArgv: [],
    });
    const stop = () => stopGate(gate);
    process.once('exit', stop);
    let failure: string | null = null;
    const exited = new Promise<void>((resolve) => {
      worker.once('exit', (code) => {
        process.off('exit', stop);
        onEnd(failure ?? `the embedding thread ended (${code})`);
        resolve();
      });
    });
    worker.on('message', onAnswer);
    worker.on('error', (error) => {
      failure = `the embedding thread failed: ${error.message}`;
    });
    return {
      post: (request) => worker.postMessage(request),
      end: async () => {
        worker.postMessage({ kind: 'close' } satisfies InferenceRequest);
        const ended = deferred();
        const timer = setTimeout(() => {
          worker.unref();
          ended.resolve();
        }, END_MS_MAX);
        await Promise.race([exited, ended.promise]);
        clearTimeout(timer);
      },
    };
  };

/** After so much computing the event loop turns before the next text: sockets, timers and refusals go on meanwhile. */
const TURN_MS_MAX = 2;

/** For a model that takes less for a text than the text for its way to a thread; and for any, in tests. */
export const startHere: StartInferenceHost = (settings, { onAnswer, onEnd }) => {
  const model = import('./serve-model.js').then(({ serveModel }) => serveModel(settings));
  model.then(({ opened }) => onAnswer(opened));
  let computedMs = 0;
  return {
    post: async (request) => {
      if (request.kind !== 'embed') return;
      const { embed } = await model;
      if (computedMs > TURN_MS_MAX) {
        await setImmediate();
        computedMs = 0;
      }
      const answer = await embed(request);
      if (answer.kind === 'embedded') computedMs += answer.computeMs;
      onAnswer(answer);
    },
    end: async () => {
      await (await model).close();
      onEnd('the model is closed');
    },
  };
};
