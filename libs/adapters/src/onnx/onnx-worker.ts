/** Entry of the model's thread: opens what `workerData` says, tells whether that went well, then serves requests. */
import { parentPort, workerData } from 'node:worker_threads';
import type { InferenceAnswer, InferenceRequest, WorkerData } from './protocol.js';
import { enterGate, leaveGate } from './run-gate.js';
import { serveModel } from './serve-model.js';

const port = parentPort;
if (port === null) throw new Error('onnx-worker must be started as a worker thread');

const { settings, gate } = workerData as WorkerData;

/** Waits for ever once the process is ending, which it then soon does. */
async function gated<T>(work: () => Promise<T>): Promise<T> {
  if (!enterGate(gate)) return new Promise<never>(() => {});
  try {
    return await work();
  } finally {
    leaveGate(gate);
  }
}

const model = await gated(() => serveModel(settings, gated));
port.on('message', async (request: InferenceRequest) => {
  if (request.kind === 'close') {
    await model.close();
    port.close();
    return;
  }
  const answer = await model.embed(request);
  const vector = answer.kind === 'embedded' ? answer.vector : null;
  port.postMessage(answer satisfies InferenceAnswer, vector === null ? [] : [vector.buffer as ArrayBuffer]);
});
port.postMessage(model.opened);
