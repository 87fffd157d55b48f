/**
 * Writes a small WebAssembly module from nested expressions, so that a program for it reads like arithmetic and needs
 * no toolchain and no binary in the repository. Knows only the instructions that its users need; the engine's own
 * validator is the type checker.
 *
 * @see https://webassembly.github.io/spec/core/binary/instructions.html
 */

/** Instructions as bytes; an expression leaves one value, a statement none. */
export type Code = readonly number[];

export type ValueType = 'i32' | 'i64' | 'f32' | 'v128';

const VALUE_TYPES: Record<ValueType, number> = { i32: 0x7f, i64: 0x7e, f32: 0x7d, v128: 0x7b };
const NO_RESULT = 0x40;

function unsigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest & 0x7f) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return [...bytes, rest];
}

function signed(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest < -64n || rest > 63n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  return [...bytes, Number(rest & 0x7fn)];
}

const one = (opcode: number) => (value: Code) => [...value, opcode];
const two = (opcode: number) => (left: Code, right: Code) => [...left, ...right, opcode];
const simdOne = (opcode: number) => (value: Code) => [...value, 0xfd, ...unsigned(opcode)];
const simdTwo = (opcode: number) => (left: Code, right: Code) => [
  ...left,
  ...right,
  0xfd,
  ...unsigned(opcode),
];
/** Alignment is a hint only; 0 promises nothing. */
const memory = (offset: number) => [0, ...unsigned(offset)];
const simdLoad =
  (opcode: number) =>
  (address: Code, offset = 0): Code => [...address, 0xfd, opcode, ...memory(offset)];

export const i32 = {
  of: (value: number): Code => [0x41, ...signed(BigInt(value))],
  isZero: one(0x45),
  countOnes: one(0x69),
  equal: two(0x46),
  lessSigned: two(0x48),
  less: two(0x49),
  atLeastSigned: two(0x4e),
  add: two(0x6a),
  sub: two(0x6b),
  mul: two(0x6c),
  and: two(0x71),
  or: two(0x72),
  shiftLeft: two(0x74),
  shiftRight: two(0x76),
  ofI64: one(0xa7),
  load: (address: Code, offset = 0): Code => [...address, 0x28, ...memory(offset)],
  store: (address: Code, value: Code, offset = 0): Code => [...address, ...value, 0x36, ...memory(offset)],
  loadByte: (address: Code, offset = 0): Code => [...address, 0x2d, ...memory(offset)],
  storeByte: (address: Code, value: Code, offset = 0): Code => [
    ...address,
    ...value,
    0x3a,
    ...memory(offset),
  ],
};

export const i64 = {
  /** @param value taken modulo 2^64 */
  of: (value: bigint): Code => [0x42, ...signed(BigInt.asIntN(64, value))],
  isZero: one(0x50),
  notEqual: two(0x52),
  countTrailingZeros: one(0x7a),
  add: two(0x7c),
  sub: two(0x7d),
  mul: two(0x7e),
  and: two(0x83),
  or: two(0x84),
  xor: two(0x85),
  shiftLeft: two(0x86),
  shiftRight: two(0x88),
  rotateLeft: two(0x89),
  ofI32: one(0xad),
  load: (address: Code, offset = 0): Code => [...address, 0x29, ...memory(offset)],
  store: (address: Code, value: Code, offset = 0): Code => [...address, ...value, 0x37, ...memory(offset)],
};

export const f32 = {
  zero: [0x43, 0, 0, 0, 0] as Code,
  ofI32: one(0xb2),
  atLeast: two(0x60),
  add: two(0x92),
  mul: two(0x94),
  load: (address: Code, offset = 0): Code => [...address, 0x2a, ...memory(offset)],
};

/** Sixteen bytes side by side. Comparisons give 0xff or 0 in each. */
export const bytes16 = {
  load: simdLoad(0x00),
  store: (address: Code, value: Code, offset = 0): Code => [
    ...address,
    ...value,
    0xfd,
    0x0b,
    ...memory(offset),
  ],
  splat: simdOne(0x0f),
  equal: simdTwo(0x23),
  /** Unsigned; one instruction less on x64 than its strict twin. */
  atMost: simdTwo(0x2a),
  atLeast: simdTwo(0x2c),
  and: simdTwo(0x4e),
  andNot: simdTwo(0x4f),
  or: simdTwo(0x50),
  xor: simdTwo(0x51),
  /** The top bit of each byte, as the low 16 bits of an i32. */
  topBits: simdOne(0x64),
  /** 1 unless all bytes are 0. */
  isAnySet: simdOne(0x53),
  /** Eight of the bytes, the first (0) or the last (1), as an i64. */
  half: (value: Code, index: 0 | 1): Code => [...value, 0xfd, 0x1d, index],
  sub: simdTwo(0x71),
};

/** Eight whole numbers of 16 bits side by side. */
export const i16x8 = {
  /** Of eight signed bytes. */
  loadBytes: simdLoad(0x01),
};

/** Four of 32 bits. */
export const i32x4 = {
  /** Of the first four of eight. */
  ofFirst: simdOne(0xa7),
  ofLast: simdOne(0xa8),
  /** Of eight products of two times eight, neighbours added. */
  ofProducts: simdTwo(0xba),
  add: simdTwo(0xae),
  lane: (value: Code, index: 0 | 1 | 2 | 3): Code => [...value, 0xfd, 0x1b, index],
};

/** Four floating-point numbers side by side. */
export const f32x4 = {
  zeros: [0xfd, 0x0c, ...new Array<number>(16).fill(0)] as Code,
  /** One number, four times. */
  loadSplat: simdLoad(0x09),
  ofI32x4: simdOne(0xfa),
  add: simdTwo(0xe4),
  mul: simdTwo(0xe6),
  lane: (value: Code, index: 0 | 1 | 2 | 3): Code => [...value, 0xfd, 0x1f, index],
};

/** A block: `br` with depth 0 leaves it. */
export const block = (...body: Code[]): Code => [0x02, NO_RESULT, ...body.flat(), 0x0b];
/** A loop: `br` with depth 0 goes round again; falling off its end leaves it. */
export const loop = (...body: Code[]): Code => [0x03, NO_RESULT, ...body.flat(), 0x0b];
export const when = (condition: Code, then: Code[], otherwise: Code[] = []): Code => [
  ...condition,
  0x04,
  NO_RESULT,
  ...then.flat(),
  ...(otherwise.length > 0 ? [0x05, ...otherwise.flat()] : []),
  0x0b,
];
/** @param depth constructs between here and the target: an enclosing `when` counts as one */
export const branch = (depth: number): Code => [0x0c, ...unsigned(depth)];
/** @param depth as for `branch` */
export const branchIf = (depth: number, condition: Code): Code => [...condition, 0x0d, ...unsigned(depth)];
/** Both are evaluated. */
export const select = (condition: Code, then: Code, otherwise: Code): Code => [
  ...then,
  ...otherwise,
  ...condition,
  0x1b,
];
export const giveBack = (value: Code): Code => [...value, 0x0f];
export const call = (index: number, ...args: Code[]): Code => [...args.flat(), 0x10, ...unsigned(index)];

export interface Variable {
  readonly get: Code;
  set(value: Code): Code;
}

/** One function under construction: its parameters first, then its local variables, all beginning at zero. */
export class FunctionWriter {
  readonly #types: ValueType[];
  readonly #parameterCount: number;
  readonly result: ValueType | null;
  body: Code = [];

  constructor(parameters: readonly ValueType[], result: ValueType | null) {
    this.#types = [...parameters];
    this.#parameterCount = parameters.length;
    this.result = result;
  }

  parameter(index: number): Variable {
    return { get: [0x20, ...unsigned(index)], set: (value) => [...value, 0x21, ...unsigned(index)] };
  }

  variable(type: ValueType): Variable {
    this.#types.push(type);
    return this.parameter(this.#types.length - 1);
  }

  get signature(): Code {
    const types = this.#types.slice(0, this.#parameterCount).map((type) => VALUE_TYPES[type]);
    const results = this.result === null ? [] : [VALUE_TYPES[this.result]];
    return [0x60, ...vector(types.map((type) => [type])), ...vector(results.map((type) => [type]))];
  }

  get code(): Code {
    const locals = this.#types.slice(this.#parameterCount).map((type) => [1, VALUE_TYPES[type]]);
    const content = [...vector(locals), ...this.body, 0x0b];
    return [...unsigned(content.length), ...content];
  }
}

/** As many new local variables; a tuple to take apart. */
export const variables = <Count extends number>(
  writer: FunctionWriter,
  type: ValueType,
  count: Count,
): Tuple<Count> => Array.from({ length: count }, () => writer.variable(type)) as Tuple<Count>;
type Tuple<Count extends number, So extends Variable[] = []> = So['length'] extends Count
  ? So
  : Tuple<Count, [...So, Variable]>;

/** Of an i32. */
export const advance = (position: Variable, by: number): Code =>
  position.set(i32.add(position.get, i32.of(by)));

const vector = (items: readonly Code[]): number[] => [...unsigned(items.length), ...items.flat()];
const section = (id: number, items: readonly Code[]): number[] => {
  const content = vector(items);
  return [id, ...unsigned(content.length), ...content];
};
const text = (value: string): number[] => vector([...Buffer.from(value)].map((byte) => [byte]));

/**
 * A module with one memory, exported as `memory`, that may grow.
 *
 * @param functions in the order of the indices by which `call` names them
 * @param exported name -> index
 */
export function writeModule(
  functions: readonly FunctionWriter[],
  exported: Readonly<Record<string, number>>,
  memoryPages: number,
): Uint8Array {
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(
      1,
      functions.map(({ signature }) => signature),
    ),
    ...section(
      3,
      functions.map((_, index) => unsigned(index)),
    ),
    ...section(5, [[0x00, ...unsigned(memoryPages)]]),
    ...section(7, [
      [...text('memory'), 0x02, 0],
      ...Object.entries(exported).map(([name, index]) => [...text(name), 0x00, ...unsigned(index)]),
    ]),
    ...section(
      10,
      functions.map(({ code }) => code),
    ),
  ]);
}

export interface WasmMemory {
  buffer: ArrayBuffer;
  /** @returns pages it had before; `buffer` is another one afterwards */
  grow(pages: number): number;
}

/** The parts of the engine's global that are used here; they are in no library of ours. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { exports: unknown };
};

/**
 * Compiles once what may then run any number of times, each with a memory of its own.
 *
 * @param module as `writeModule` gives it
 * @throws when the engine lacks an instruction
 * @returns throws Error with what to do, where addresses are limited: an engine reserves gigabytes of them for each memory
 */
export function compile<Exports>(module: Uint8Array): () => Exports & { memory: WasmMemory } {
  const compiled = new WebAssembly.Module(module);
  return () => {
    try {
      return new WebAssembly.Instance(compiled).exports as Exports & { memory: WasmMemory };
    } catch (cause) {
      throw new Error(
        'no room for the addresses of a WebAssembly memory, of which little is used: lift the limit of virtual memory (ulimit -v)',
        { cause },
      );
    }
  };
}
