/**
 * The weights in an ONNX file, without a runtime for them: the few fields of the format that name and hold them.
 *
 * @see https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
 */
import protobuf from 'protobufjs/light.js';

/** `TensorProto.DataType` */
export const ONNX_FLOAT = 1;
export const ONNX_INT8 = 3;

export interface OnnxTensor {
  dataType: number;
  shape: number[];
  /** Little-endian; lies in the bytes that were read. */
  bytes: Uint8Array;
}

const field = (type: string, id: number) => ({ type, id });
const repeated = (type: string, id: number) => ({ rule: 'repeated', type, id });
const ModelProto = protobuf.Root.fromJSON({
  nested: {
    ModelProto: { fields: { graph: field('GraphProto', 7) } },
    GraphProto: { fields: { initializer: repeated('TensorProto', 5) } },
    TensorProto: {
      fields: {
        dims: repeated('int64', 1),
        data_type: field('int32', 2),
        name: field('string', 8),
        raw_data: field('bytes', 9),
      },
    },
  },
}).lookupType('ModelProto');

interface DecodedModel {
  graph?: {
    initializer: {
      dims: (number | protobuf.Long)[];
      data_type: number;
      name: string;
      raw_data: Uint8Array;
    }[];
  };
}

/**
 * By name; only those stored as raw bytes have any.
 *
 * @throws Error that names no file, when these are not the bytes of an ONNX model
 */
export function readTensors(model: Uint8Array): Map<string, OnnxTensor> {
  const { graph } = ModelProto.decode(model) as unknown as DecodedModel;
  if (!graph) throw new Error('it has no graph');
  return new Map(
    graph.initializer.map(({ name, dims, data_type, raw_data }) => [
      name,
      { dataType: data_type, shape: dims.map(Number), bytes: raw_data },
    ]),
  );
}
