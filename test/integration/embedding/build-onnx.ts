/**
 * ONNX files of a few lines, written byte by byte, so that tests have models whose answers are known beforehand: each
 * looks up one row of a table for every id it is given, and returns the rows.
 */

interface GatherModel {
  /** The input looked up; other inputs are taken and not used. */
  ids: string;
  unused?: string[];
  output: string;
  table: number[][];
}

const FLOAT = 1;
const INT64 = 7;

/** @returns the bytes of `output[0, i] = table[ids[0, i]]` */
export function buildGatherModel({ ids, unused = [], output, table }: GatherModel): Buffer {
  const dimension = table[0]?.length ?? 0;
  const data = Float32Array.from(table.flat());
  const weights = [
    varint(1, table.length),
    varint(1, dimension),
    varint(2, FLOAT),
    bytes(8, 'table'),
    bytes(9, Buffer.from(data.buffer)),
  ];
  const axis = [bytes(1, 'axis'), varint(3, 0), varint(20, 2)];
  const node = [bytes(1, 'table'), bytes(1, ids), bytes(2, output), bytes(4, 'Gather'), bytes(5, axis)];
  const graph = [
    bytes(1, node),
    bytes(2, 'gather'),
    bytes(5, weights),
    ...[ids, ...unused].map((name) => bytes(11, valueInfo(name, INT64, [1, 'tokens']))),
    bytes(12, valueInfo(output, FLOAT, [1, 'tokens', dimension])),
  ];
  return Buffer.concat([varint(1, 8), bytes(8, [bytes(1, ''), varint(2, 13)]), bytes(7, graph)]);
}

function valueInfo(name: string, type: number, shape: (number | string)[]): Buffer[] {
  const dimensions = shape.map((size) =>
    bytes(1, [typeof size === 'number' ? varint(1, size) : bytes(2, size)]),
  );
  return [bytes(1, name), bytes(2, [bytes(1, [varint(1, type), bytes(2, dimensions)])])];
}

/** A field that is a number. */
const varint = (field: number, value: number): Buffer => Buffer.concat([number(field * 8), number(value)]);

/** A field that is text, bytes, or a message of fields. */
function bytes(field: number, content: string | Buffer | Buffer[]): Buffer {
  const body = Array.isArray(content) ? Buffer.concat(content) : Buffer.from(content as string);
  return Buffer.concat([number(field * 8 + 2), number(body.length), body]);
}

function number(value: number): Buffer {
  const parts: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) parts.push((rest % 128) + 128);
  return Buffer.from([...parts, rest]);
}
