/** The bundled model: hashed features in, unit vector out. @see models/observatory-static-384/features.md */
import {
  STATIC_BUCKET_COUNT,
  STATIC_DESCRIPTION,
  STATIC_RANK,
  StaticFeaturiser,
  StaticTable,
} from '#domain/embedding';
import { lineOf } from './line-of.js';
import type { LoadedModel } from './loaded-model.js';
import { readBundledModel, STATIC_REMEDY } from './model-files.js';
import type { StaticModelSettings } from './protocol.js';
import { ONNX_FLOAT, ONNX_INT8, type OnnxTensor, readTensors } from './read-tensors.js';

const ROWS = { name: 'table', dataType: ONNX_INT8, shape: [STATIC_BUCKET_COUNT, STATIC_RANK], itemBytes: 1 };
const SCALES = { name: 'scale', dataType: ONNX_FLOAT, shape: [STATIC_BUCKET_COUNT, 1], itemBytes: 4 };

/** Its files are checked against the manifest beside them. @throws Error with a remedy */
export async function openStaticModel({ directory }: StaticModelSettings): Promise<LoadedModel> {
  const { file, bytes, manifest } = await readBundledModel(directory);
  const { dimension } = STATIC_DESCRIPTION;
  if (manifest.dimension !== dimension) {
    throw new Error(
      `${directory} holds another model: its vectors have ${manifest.dimension} numbers, ` +
        `${STATIC_DESCRIPTION.model_id} has ${dimension}; ${STATIC_REMEDY}`,
    );
  }
  const table = openTable(bytes, file);
  const featuriser = new StaticFeaturiser();
  return {
    description: STATIC_DESCRIPTION,
    file,
    remedy: STATIC_REMEDY,
    async embed(text) {
      const ids = featuriser.features(text);
      if (ids.length === 0) return { fitness: 'empty', vector: null, tokensCount: 0 };
      return { fitness: 'fit', vector: table.vectorOf(ids, dimension), tokensCount: ids.length };
    },
    release: async () => {},
  };
}

function openTable(model: Buffer, file: string): StaticTable {
  let tensors: Map<string, OnnxTensor>;
  try {
    tensors = readTensors(model);
  } catch (error) {
    throw new Error(`${file} is no ONNX model (${lineOf(error)}), it may be damaged: ${STATIC_REMEDY}`);
  }
  const bytesOf = ({ name, dataType, shape, itemBytes }: typeof ROWS): ArrayBuffer => {
    const found = tensors.get(name);
    const isAsExpected =
      found?.dataType === dataType &&
      found.shape.join() === shape.join() &&
      found.bytes.length === shape.reduce((product, size) => product * size, itemBytes);
    if (isAsExpected) return new Uint8Array(found.bytes).buffer;
    const held = found === undefined ? 'is not there' : `is ${found.shape.join(' x ')}`;
    throw new Error(
      `${file} is another model: its tensor "${name}" ${held}, should be ${shape.join(' x ')}; ${STATIC_REMEDY}`,
    );
  };
  return new StaticTable(new Int8Array(bytesOf(ROWS)), new Float32Array(bytesOf(SCALES)));
}
