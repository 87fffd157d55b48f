/** The bundled model: hashed features in, unit vector out. @see models/observatory-static-384/features.md */
import { STATIC_DESCRIPTION, StaticFeaturiser } from '#domain/embedding';
import type { LoadedModel } from './loaded-model.js';
import { readBundledModel, STATIC_REMEDY } from './model-files.js';
import { openSession, rowOfInt64 } from './onnx-session.js';
import type { StaticModelSettings } from './protocol.js';

const INPUT = 'bucket_ids';
const OUTPUT = 'embedding';

/** Its files are checked against the manifest beside them. @throws Error with a remedy */
export async function openStaticModel({ directory }: StaticModelSettings): Promise<LoadedModel> {
  const { file, bytes, manifest } = await readBundledModel(directory);
  if (manifest.dimension !== STATIC_DESCRIPTION.dimension) {
    throw new Error(
      `${directory} holds another model: its vectors have ${manifest.dimension} numbers, ` +
        `${STATIC_DESCRIPTION.model_id} has ${STATIC_DESCRIPTION.dimension}; ${STATIC_REMEDY}`,
    );
  }
  const session = await openSession(bytes, file, [INPUT], STATIC_REMEDY);
  const featuriser = new StaticFeaturiser();
  return {
    description: STATIC_DESCRIPTION,
    file,
    remedy: STATIC_REMEDY,
    async embed(text) {
      const ids = featuriser.features(text);
      if (ids.length === 0) return { fitness: 'empty', vector: null, tokensCount: 0 };
      const output = await session.run({ [INPUT]: rowOfInt64(ids) });
      // Its own memory: the runtime's cannot be handed to another thread.
      const vector = Float32Array.from(output[OUTPUT]?.data as Float32Array);
      return { fitness: 'fit', vector, tokensCount: ids.length };
    },
    release: () => session.release(),
  };
}
