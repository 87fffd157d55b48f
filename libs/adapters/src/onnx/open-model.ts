/**
 * A model ready for texts: loaded, checked and warmed up. Runs wherever it is called: in the worker, or for tests and
 * small tools in the caller's thread.
 */
import type { LoadedModel } from './loaded-model.js';
import type { ModelSettings } from './protocol.js';

/** Words that both models know. */
const WARM_UP_TEXT = 'Is the model ready to compare what is asked now with what was asked before?';
const UNIT_TOLERANCE = 1e-3;

/** @throws Error with a remedy, if the model is missing, damaged, or another than it should be */
export async function openModel(settings: ModelSettings): Promise<LoadedModel> {
  const model = await loadModel(settings);
  try {
    await warmUp(model);
    return model;
  } catch (error) {
    await model.release();
    throw error;
  }
}

/** Loads no code of the other: ONNX Runtime alone takes 40 MB. */
async function loadModel(settings: ModelSettings): Promise<LoadedModel> {
  if (settings.kind === 'static') return (await import('./static-model.js')).openStaticModel(settings);
  return (await import('./minilm-model.js')).openMinilmModel(settings);
}

async function warmUp({ description, file, remedy, embed }: LoadedModel): Promise<void> {
  const { vector } = await embed(WARM_UP_TEXT);
  if (vector === null)
    throw new Error(`${file} has another model's tokenizer, which knows no English: ${remedy}`);
  if (vector.length !== description.dimension) {
    throw new Error(
      `${file} is another model: its vectors have ${vector.length} numbers, ` +
        `${description.model_id} has ${description.dimension}; ${remedy}`,
    );
  }
  if (!isUnit(vector))
    throw new Error(`${file} gives no vectors of unit length, it may be damaged: ${remedy}`);
}

/** False for NaN too. */
export function isUnit(vector: Float32Array): boolean {
  let square = 0;
  for (const value of vector) square += value * value;
  return Math.abs(square - 1) < UNIT_TOLERANCE;
}
