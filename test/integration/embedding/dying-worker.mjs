/** A model's thread that opens, answers nothing, and dies in the way a text names. */
import { parentPort } from 'node:worker_threads';

parentPort?.on('message', ({ text }) => {
  if (text === 'exit') process.exit(7);
  if (text === 'throw') throw new Error('out of order');
});
parentPort?.postMessage({ kind: 'opened', description: { model_id: 'mortal', dimension: 1, tokens_max: 1 } });
