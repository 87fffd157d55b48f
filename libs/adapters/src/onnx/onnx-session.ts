/** onnxruntime as it is used here: one thread, one text at a time, nothing kept from one text to the next. */
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { lineOf } from './line-of.js';

/**
 * One thread: a text is short, and the other cores are for others. No memory pattern: it would be remembered for every
 * length of text that was ever seen. No log: its errors come as errors, and it would write to the process's stderr.
 */
const OPTIONS: InferenceSession.SessionOptions = {
  executionProviders: ['cpu'],
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  graphOptimizationLevel: 'all',
  enableMemPattern: false,
  logSeverityLevel: 4,
};

/**
 * @param file its path
 * @throws Error with a remedy, if it is no model, or not one with these inputs
 */
export async function openSession(
  file: string,
  inputs: readonly string[],
  remedy: string,
): Promise<InferenceSession> {
  const session = await InferenceSession.create(file, OPTIONS).catch((error) => {
    throw new Error(`${file} is no model that can be run (${lineOf(error)}), it may be damaged: ${remedy}`);
  });
  const missing = inputs.filter((name) => !session.inputNames.includes(name));
  if (missing.length === 0) return session;
  await session.release();
  throw new Error(
    `${file} is another model: it takes ${session.inputNames.join(', ')}, and not ${missing.join(', ')}; ${remedy}`,
  );
}

/**
 * Whole numbers below 2^31 as the runtime wants them. Written through a view of 32-bit halves, low one first as on
 * every machine that the runtime supports: a BigInt for each would cost more than the hash that made it.
 */
export function rowOfInt64(values: ArrayLike<number>): Tensor {
  const row = new BigInt64Array(values.length);
  const halves = new Int32Array(row.buffer);
  for (let at = 0; at < values.length; at += 1) halves[at * 2] = values[at] as number;
  return new Tensor('int64', row, [1, values.length]);
}
