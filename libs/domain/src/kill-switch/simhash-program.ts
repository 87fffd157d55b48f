/**
 * The inner loop of the kill switch's SimHash, as a WebAssembly program: JavaScript needs 3 to 4 ns a character for it
 * on a slow core (a string's characters are dear to read one by one, and a 64-bit sum is two of 32), this about 0.5.
 * What it computes, over UTF-8 in memory at `TEXT`:
 *
 *     bytes  --classify-->  tokens  --three in a row-->  features  --64 vertical counters-->  sums per bit
 *
 * - A *token* is a run of word bytes (ASCII letters and digits, everything beyond ASCII) or a run of other visible
 *   characters. White space and control characters only part word runs. Ideographs, kana, Hangul and emoji (UTF-8 lead
 *   bytes from 0xE3) are a token each, since no space parts them. A long token counts as pieces of 16 bytes.
 * - Folded (`raw` = 0): letters in lower case; a number, a UUID, an ISO 8601 date or timestamp is one symbol.
 * - A *feature* is the hash of three consecutive tokens, with borders before the first and after the last, so that each
 *   token, the outer ones too, is in three features.
 * - The *counters* are bit-sliced: plane k holds bit k of all 64 counts. Sixteen features at a time are added with
 *   carry-save adders (Harley and Seal), about seven instructions a feature instead of 64.
 * - The hash over all features counts twice or three times (so that the total is odd and no bit can tie): short texts
 *   that differ in one word differ in many bits.
 */
import { bytes16, block, branchIf, type Code, call, FunctionWriter, giveBack, i32, i64, loop, select, type Variable, when, writeModule } from './wasm-writer.js';

/** Where things lie in memory. */
export const LAYOUT = {
  /** 64-bit words, plane 0 first. */
  planes: 0,
  planeCount: 32,
  /** i64: pieces of tokens found. */
  tokenCount: 256,
  /** i64: hash of all features in their order. */
  exact: 264,
  /** i64, raw only: hash of all tokens that hold a digit, in their order. */
  digits: 272,
  /** i64: the hashes of the latest token and of the one before it. */
  before: 280,
  beforeThat: 288,
  /** Sixteen times 0xff, then sixteen times 0, put there by the caller: from n bytes ahead of the middle, n are set. */
  pieceMask: 448,
  /** Hashes of tokens, and in their place then features. */
  batch: 512,
  text: 8_192,
  /** Room behind the text, which the program zeroes. */
  paddingBytes: 80,
} as const;

/** Tokens hashed before they become features and are added. */
const BATCH_COUNT = 512;
const FEATURES_PER_SUM = 16;
const BLOCK_BYTES = 64;
const PIECE_BYTES = 16;

/** Odd, their bits without pattern: from the fractional parts of square roots of primes, as SHA-2 has them. */
const MIX_TOKEN = 0x6a09e667f3bcc909n;
const MIX_FEATURE = 0xbb67ae8584caa73bn;
const MIX_LAST = 0x3c6ef372fe94f82bn;
/** No text has these as bytes: 0xff is not UTF-8. */
const SYMBOL = {
  number: 0xff510e527fade682n,
  uuid: 0xff9b05688c2b3e6cn,
  timestamp: 0xff1f83d9abfb41bdn,
  border: 0xff5be0cd19137e21n,
} as const;

const FUNCTION = {
  isDigits: 0,
  isUuid: 1,
  timestampEnd: 2,
  numberEnd: 3,
  mixBatch: 4,
  addBatch: 5,
  runFolded: 6,
  runRaw: 7,
} as const;

const code = (character: string): Code => i32.of(character.charCodeAt(0));
const byteAt = (position: Code, offset = 0): Code => i32.loadByte(position, LAYOUT.text + offset);
const isByte = (position: Code, character: string, offset = 0): Code =>
  i32.equal(byteAt(position, offset), code(character));
const isInRange = (byte: Code, first: string, last: string): Code =>
  i32.less(i32.sub(byte, code(first)), i32.of(last.charCodeAt(0) - first.charCodeAt(0) + 1));
const isDigit = (position: Code, offset = 0): Code => isInRange(byteAt(position, offset), '0', '9');
const isDigits = (position: Code, count: number, offset = 0): Code =>
  call(FUNCTION.isDigits, offset === 0 ? position : i32.add(position, i32.of(offset)), i32.of(count));
/** The text is in lower case by now. */
const isHexDigit = (position: Code, offset = 0): Code =>
  i32.or(isDigit(position, offset), isInRange(byteAt(position, offset), 'a', 'f'));
const isWordByte = (position: Code): Code =>
  i32.or(
    i32.or(isDigit(position), isInRange(byteAt(position), 'a', 'z')),
    i32.atLeastSigned(byteAt(position), i32.of(0x80)),
  );
const advance = (position: Variable, by: number): Code => position.set(i32.add(position.get, i32.of(by)));
const all = (...conditions: Code[]): Code => conditions.reduce((left, right) => i32.and(left, right));

/** Reads on while `condition` holds at `position`. */
const skipWhile = (position: Variable, condition: Code): Code =>
  block(loop(branchIf(1, i32.isZero(condition)), advance(position, 1), [0x0c, 0]));

/** (position, count) -> 1 if `count` digits stand there. */
function writeIsDigits(): FunctionWriter {
  const writer = new FunctionWriter(['i32', 'i32'], 'i32');
  const [position, count] = [writer.parameter(0), writer.parameter(1)];
  writer.body = [
    loop(
      when(i32.isZero(isDigit(position.get)), [giveBack(i32.of(0))]),
      advance(position, 1),
      advance(count, -1),
      branchIf(0, count.get),
    ),
    i32.of(1),
  ].flat();
  return writer;
}

/** (position) -> 1 if a UUID stands there and ends there: 8-4-4-4-12 hex digits. */
function writeIsUuid(): FunctionWriter {
  const writer = new FunctionWriter(['i32'], 'i32');
  const position = writer.parameter(0);
  const index = writer.variable('i32');
  const hyphens = (1 << 8) | (1 << 13) | (1 << 18) | (1 << 23);
  writer.body = [
    loop(
      when(
        i32.and(i32.less(index.get, i32.of(32)), i32.and(i32.shiftRight(i32.of(hyphens), index.get), i32.of(1))),
        [when(i32.isZero(isByte(position.get, '-')), [giveBack(i32.of(0))])],
        [when(i32.isZero(isHexDigit(position.get)), [giveBack(i32.of(0))])],
      ),
      advance(position, 1),
      advance(index, 1),
      branchIf(0, i32.less(index.get, i32.of(36))),
    ),
    i32.isZero(isWordByte(position.get)),
  ].flat();
  return writer;
}

/** (position) -> end of the ISO 8601 date or timestamp (extended format) that begins there; 0 for none. */
function writeTimestampEnd(): FunctionWriter {
  const writer = new FunctionWriter(['i32'], 'i32');
  const start = writer.parameter(0);
  const end = writer.variable('i32');
  const isDate = all(isDigits(start.get, 4), isDigits(start.get, 2, 5), isDigits(start.get, 2, 8));
  const zone = [
    when(
      isByte(end.get, 'z'),
      [advance(end, 1)],
      [
        when(i32.and(i32.or(isByte(end.get, '+'), isByte(end.get, '-')), isDigits(end.get, 2, 1)), [
          advance(end, 3),
          when(isByte(end.get, ':'), [advance(end, 1)]),
          when(isDigits(end.get, 2), [advance(end, 2)]),
        ]),
      ],
    ),
  ];
  const time = [
    advance(end, 6),
    when(i32.and(isByte(end.get, ':'), isDigits(end.get, 2, 1)), [
      advance(end, 3),
      when(i32.and(i32.or(isByte(end.get, '.'), isByte(end.get, ',')), isDigit(end.get, 1)), [
        advance(end, 1),
        skipWhile(end, isDigit(end.get)),
      ]),
    ]),
    ...zone,
  ];
  const isTime = all(
    isByte(end.get, 't'),
    isByte(end.get, ':', 3),
    isDigits(end.get, 2, 1),
    isDigits(end.get, 2, 4),
  );
  writer.body = [
    when(i32.isZero(all(isByte(start.get, '-', 4), isByte(start.get, '-', 7))), [giveBack(i32.of(0))]),
    when(i32.isZero(isDate), [giveBack(i32.of(0))]),
    end.set(i32.add(start.get, i32.of(10))),
    when(isTime, time),
    when(isWordByte(end.get), [giveBack(i32.of(0))]),
    end.get,
  ].flat();
  return writer;
}

/** (position of a digit) -> end of the number: 7, 1,000,000, 3.14, 6.02e23, 192.168.0.1, 0x7ffe. */
function writeNumberEnd(): FunctionWriter {
  const writer = new FunctionWriter(['i32'], 'i32');
  const position = writer.parameter(0);
  writer.body = [
    when(all(isByte(position.get, '0'), isByte(position.get, 'x', 1), isHexDigit(position.get, 2)), [
      advance(position, 2),
      skipWhile(position, isHexDigit(position.get)),
      giveBack(position.get),
    ]),
    loop(
      skipWhile(position, isDigit(position.get)),
      when(i32.and(i32.or(isByte(position.get, '.'), isByte(position.get, ',')), isDigit(position.get, 1)), [
        advance(position, 1),
        [0x0c, 1],
      ]),
    ),
    when(isByte(position.get, 'e'), [
      when(isDigit(position.get, 1), [advance(position, 1), skipWhile(position, isDigit(position.get))]),
      when(
        all(
          isByte(position.get, 'e'),
          i32.or(isByte(position.get, '+', 1), isByte(position.get, '-', 1)),
          isDigit(position.get, 2),
        ),
        [advance(position, 2), skipWhile(position, isDigit(position.get))],
      ),
    ]),
    position.get,
  ].flat();
  return writer;
}

const rotate = (value: Code, by: number): Code => i64.rotateLeft(value, i64.of(BigInt(by)));
const foldDown = (value: Variable, by: bigint): Code =>
  value.set(i64.xor(value.get, i64.shiftRight(value.get, i64.of(by))));
const stored = (address: number): Code => i64.load(i32.of(0), address);
const store = (address: number, value: Code): Code => i64.store(i32.of(0), value, address);
const put = (address: Variable, value: Code): Code[] => [i64.store(address.get, value, LAYOUT.batch), advance(address, 8)];

/** (bytes): the hashes in the batch become features, each with the two tokens before it. */
function writeMixBatch(): FunctionWriter {
  const writer = new FunctionWriter(['i32'], null);
  const end = writer.parameter(0);
  const at = writer.variable('i32');
  const [token, feature, before, beforeThat, exact] = Array.from({ length: 5 }, () => writer.variable('i64')) as [
    Variable,
    Variable,
    Variable,
    Variable,
    Variable,
  ];
  const context = i64.xor(rotate(before.get, 23), rotate(beforeThat.get, 47));
  writer.body = [
    before.set(stored(LAYOUT.before)),
    beforeThat.set(stored(LAYOUT.beforeThat)),
    exact.set(stored(LAYOUT.exact)),
    loop(
      token.set(i64.load(at.get, LAYOUT.batch)),
      feature.set(i64.mul(i64.xor(token.get, context), i64.of(MIX_FEATURE))),
      foldDown(feature, 29n),
      feature.set(i64.mul(feature.get, i64.of(MIX_LAST))),
      foldDown(feature, 32n),
      beforeThat.set(before.get),
      before.set(token.get),
      exact.set(i64.add(rotate(exact.get, 5), feature.get)),
      ...put(at, feature.get),
      branchIf(0, i32.less(at.get, end.get)),
    ),
    store(LAYOUT.before, before.get),
    store(LAYOUT.beforeThat, beforeThat.get),
    store(LAYOUT.exact, exact.get),
  ].flat();
  return writer;
}

/** (bytes): adds the features of the batch to the planes; what the last sixteen lack is made up with zeros. */
function writeAddBatch(): FunctionWriter {
  const writer = new FunctionWriter(['i32'], null);
  const end = writer.parameter(0);
  const [at, plane] = [writer.variable('i32'), writer.variable('i32')];
  const [carry, bits, half, third] = Array.from({ length: 4 }, () => writer.variable('i64')) as [
    Variable,
    Variable,
    Variable,
    Variable,
  ];
  const sums = [0, 1, 2, 3].map(() => writer.variable('i64'));
  const feature = (index: number): Code => i64.load(at.get, LAYOUT.batch + 8 * index);
  const tree: Code[] = [];

  /** sum, left, right -> sum and `into`, its carry. */
  const addThree = (sum: Variable, left: Code, right: Code, into: Variable): void => {
    tree.push(
      half.set(i64.xor(sum.get, left)),
      third.set(right),
      into.set(i64.or(i64.and(sum.get, left), i64.and(half.get, third.get))),
      sum.set(i64.xor(half.get, third.get)),
    );
  };
  /** Adds 2^(level+1) features from `first` on to the sums up to `level`; what overflows is in the variable returned. */
  const addTree = (level: number, first: number): Variable => {
    const into = writer.variable('i64');
    const sum = sums[level] as Variable;
    if (level === 0) addThree(sum, feature(first), feature(first + 1), into);
    else {
      const left = addTree(level - 1, first);
      const right = addTree(level - 1, first + 2 ** level);
      addThree(sum, left.get, right.get, into);
    }
    return into;
  };
  const overflow = addTree(3, 0);
  const ripple = loop(
    branchIf(1, i64.isZero(carry.get)),
    bits.set(i64.load(plane.get)),
    i64.store(plane.get, i64.xor(bits.get, carry.get)),
    carry.set(i64.and(bits.get, carry.get)),
    advance(plane, 8),
    [0x0c, 0],
  );
  writer.body = [
    at.set(end.get),
    block(
      loop(
        branchIf(1, i32.isZero(i32.and(at.get, i32.of(8 * FEATURES_PER_SUM - 1)))),
        ...put(at, i64.of(0n)),
        [0x0c, 0],
      ),
    ),
    at.set(i32.of(0)),
    ...sums.map((sum, k) => sum.set(stored(LAYOUT.planes + 8 * k))),
    loop(
      ...tree,
      carry.set(overflow.get),
      plane.set(i32.of(LAYOUT.planes + 8 * sums.length)),
      block(ripple),
      advance(at, 8 * FEATURES_PER_SUM),
      branchIf(0, i32.less(at.get, end.get)),
    ),
    ...sums.map((sum, k) => store(LAYOUT.planes + 8 * k, sum.get)),
  ].flat();
  return writer;
}

/** (bytes of text, address of the masks): folds the text in place and fills in the sums. */
function writeRun(isRaw: boolean): FunctionWriter {
  const writer = new FunctionWriter(['i32', 'i32'], null);
  const [length, masks] = [writer.parameter(0), writer.parameter(1)];
  const zero = bytes16.splat(i32.of(0));
  const clear = (address: Code, offset: number, count: number): Code[] =>
    Array.from({ length: count / 16 }, (_, index) => bytes16.store(address, zero, offset + 16 * index));
  writer.body = [
    ...clear(i32.of(0), LAYOUT.planes, LAYOUT.beforeThat + 16 - LAYOUT.planes),
    ...clear(length.get, LAYOUT.text, LAYOUT.paddingBytes),
    store(LAYOUT.before, i64.of(SYMBOL.border)),
    store(LAYOUT.beforeThat, i64.of(SYMBOL.border)),
    classify(writer, length, masks, isRaw),
    addTokens(writer, length, masks, isRaw),
  ].flat();
  return writer;
}

/** First pass: folds the text, zeroes its white space, and leaves 64 bits a block that say where tokens start. */
function classify(writer: FunctionWriter, length: Variable, masks: Variable, isRaw: boolean): Code {
  const at = writer.variable('i32');
  const vector = writer.variable('v128');
  const [words, spaces, leads, others] = [0, 1, 2, 3].map(() => writer.variable('i64')) as [
    Variable,
    Variable,
    Variable,
    Variable,
  ];
  const wordBefore = writer.variable('i64');
  const otherBefore = writer.variable('i64');
  const isWord = writer.variable('v128');
  const isSpace = writer.variable('v128');
  const setup: Code[] = [];
  /** The same byte sixteen times, made once. */
  const constant = (value: Code): Code => {
    const held = writer.variable('v128');
    setup.push(held.set(bytes16.splat(value)));
    return held.get;
  };
  const caseBit = constant(i32.of(0x20));
  const foldBit = constant(i32.of(isRaw ? 0 : 0x20));
  const [upperA, lowerA, zero] = [constant(code('A')), constant(code('a')), constant(code('0'))];
  const [letterCount, digitCount] = [constant(i32.of(26)), constant(i32.of(10))];
  const [visible, beyondAscii, ideograph] = [constant(i32.of(0x21)), constant(i32.of(0x80)), constant(i32.of(0xe3))];

  const quarter = (index: number): Code[] => {
    const address = i32.add(at.get, i32.of(16 * index));
    const gather = (into: Variable, bits: Code) =>
      into.set(i64.or(into.get, i64.shiftLeft(i64.ofI32(bytes16.topBits(bits)), i64.of(BigInt(16 * index)))));
    const isUpper = bytes16.less(bytes16.sub(vector.get, upperA), letterCount);
    const isLetter = bytes16.less(bytes16.sub(bytes16.or(vector.get, caseBit), lowerA), letterCount);
    const isDigitByte = bytes16.less(bytes16.sub(vector.get, zero), digitCount);
    return [
      vector.set(bytes16.load(address, LAYOUT.text)),
      isSpace.set(bytes16.less(vector.get, visible)),
      isWord.set(
        bytes16.or(bytes16.or(isLetter, isDigitByte), bytes16.atLeast(vector.get, beyondAscii)),
      ),
      gather(words, isWord.get),
      gather(spaces, isSpace.get),
      gather(leads, bytes16.atLeast(vector.get, ideograph)),
      bytes16.store(
        address,
        bytes16.andNot(bytes16.or(vector.get, bytes16.and(isUpper, foldBit)), isSpace.get),
        LAYOUT.text,
      ),
    ];
  };
  /** Set where the class begins: in it, and the byte before is not. */
  const beginnings = (members: Variable, before: Variable): Code =>
    i64.and(
      members.get,
      i64.xor(i64.or(i64.shiftLeft(members.get, i64.of(1n)), before.get), i64.of(-1n)),
    );
  return [
    ...setup.flat(),
    ...loop(
      ...[words, spaces, leads].map((mask) => mask.set(i64.of(0n))),
      ...[0, 1, 2, 3].flatMap(quarter),
      others.set(i64.xor(i64.or(words.get, spaces.get), i64.of(-1n))),
      i64.store(
        i32.add(masks.get, i32.shiftRight(at.get, i32.of(3))),
        i64.or(i64.or(beginnings(words, wordBefore), beginnings(others, otherBefore)), leads.get),
      ),
      wordBefore.set(i64.shiftRight(words.get, i64.of(63n))),
      otherBefore.set(i64.shiftRight(others.get, i64.of(63n))),
      advance(at, BLOCK_BYTES),
      // One block more than the text may need: it holds the mark that ends the last token.
      branchIf(0, i32.isZero(i32.less(length.get, at.get))),
    ),
  ];
}

/** Second pass: from one start to the next, token by token. Branches only where they are easy to foresee. */
function addTokens(writer: FunctionWriter, length: Variable, masks: Variable, isRaw: boolean): Code {
  const [blockAt, from, to, start, skip, out, size] = Array.from({ length: 7 }, () =>
    writer.variable('i32'),
  ) as [Variable, Variable, Variable, Variable, Variable, Variable, Variable];
  const [mask, token, first, second, digits] = Array.from({ length: 5 }, () => writer.variable('i64')) as [
    Variable,
    Variable,
    Variable,
    Variable,
    Variable,
  ];

  const countTokens = store(
    LAYOUT.tokenCount,
    i64.add(stored(LAYOUT.tokenCount), i64.ofI32(i32.shiftRight(out.get, i32.of(3)))),
  );
  const drainFull: Code[] = [
    when(i32.isZero(i32.less(out.get, i32.of(8 * BATCH_COUNT))), [
      countTokens,
      call(FUNCTION.mixBatch, out.get),
      call(FUNCTION.addBatch, out.get),
      out.set(i32.of(0)),
    ]),
  ];
  const maskAt = i32.sub(i32.of(PIECE_BYTES), select(i32.less(size.get, i32.of(PIECE_BYTES)), size.get, i32.of(PIECE_BYTES)));
  const holdsDigit = bytes16.isAnySet(
    bytes16.less(
      bytes16.sub(
        bytes16.and(bytes16.load(from.get, LAYOUT.text), bytes16.load(maskAt, LAYOUT.pieceMask)),
        bytes16.splat(code('0')),
      ),
      bytes16.splat(i32.of(10)),
    ),
  );
  /** Bytes `from` to `to`, at most sixteen of them, the rest zero. All zero, so white space only: no token. */
  const addPiece: Code[] = [
    size.set(i32.sub(to.get, from.get)),
    first.set(i64.and(i64.load(from.get, LAYOUT.text), i64.load(maskAt, LAYOUT.pieceMask))),
    second.set(i64.and(i64.load(from.get, LAYOUT.text + 8), i64.load(maskAt, LAYOUT.pieceMask + 8))),
    token.set(i64.add(i64.mul(first.get, i64.of(MIX_TOKEN)), rotate(i64.mul(second.get, i64.of(MIX_TOKEN)), 29))),
    foldDown(token, 32n),
    i64.store(out.get, token.get, LAYOUT.batch),
    out.set(
      i32.add(
        out.get,
        i32.shiftLeft(i32.isZero(i64.isZero(i64.or(first.get, second.get))), i32.of(3)),
      ),
    ),
    ...(isRaw ? [when(holdsDigit, [digits.set(i64.add(rotate(digits.get, 7), token.get))])] : []),
    advance(from, PIECE_BYTES),
    ...drainFull,
  ];
  /** What reads differently each time becomes a symbol; `from` goes on behind it. */
  const addSymbol: Code[] = [
    token.set(i64.of(0n)),
    when(isDigit(from.get), [
      skip.set(call(FUNCTION.timestampEnd, from.get)),
      token.set(i64.of(SYMBOL.timestamp)),
      when(i32.isZero(skip.get), [
        skip.set(call(FUNCTION.numberEnd, from.get)),
        token.set(i64.of(SYMBOL.number)),
      ]),
    ]),
    when(isByte(to.get, '-'), [
      when(call(FUNCTION.isUuid, from.get), [
        token.set(i64.of(SYMBOL.uuid)),
        skip.set(i32.add(from.get, i32.of(36))),
      ]),
    ]),
    when(i64.notEqual(token.get, i64.of(0n)), [from.set(skip.get), ...put(out, token.get), ...drainFull]),
  ];
  const mayBeUuid = i32.and(i32.equal(i32.sub(to.get, from.get), i32.of(8)), isByte(to.get, '-'));
  const addToken: Code[] = [
    to.set(i32.add(blockAt.get, i32.ofI64(i64.countTrailingZeros(mask.get)))),
    mask.set(i64.and(mask.get, i64.sub(mask.get, i64.of(1n)))),
    from.set(start.get),
    start.set(to.get),
    ...(isRaw
      ? []
      : [
          // A number such as 3.14 is three tokens to the first pass; what it has swallowed is not read again.
          from.set(select(i32.less(from.get, skip.get), skip.get, from.get)),
          when(i32.or(isDigit(from.get), mayBeUuid), [when(i32.less(from.get, to.get), addSymbol)]),
        ]),
    when(i32.less(from.get, to.get), [loop(...addPiece, branchIf(0, i32.lessSigned(from.get, to.get)))]),
  ];
  const lastMask = i32.add(masks.get, i32.shiftLeft(i32.shiftRight(length.get, i32.of(6)), i32.of(3)));
  const endBit = i64.shiftLeft(i64.of(1n), i64.ofI32(i32.and(length.get, i32.of(BLOCK_BYTES - 1))));
  const isOdd = (address: number): Code => i32.and(i32.ofI64(stored(address)), i32.of(1));
  const finish: Code[] = [
    ...put(out, i64.of(SYMBOL.border)),
    ...put(out, i64.of(SYMBOL.border)),
    call(FUNCTION.mixBatch, out.get),
    token.set(i64.mul(stored(LAYOUT.exact), i64.of(MIX_LAST))),
    foldDown(token, 29n),
    token.set(i64.mul(token.get, i64.of(MIX_FEATURE))),
    foldDown(token, 32n),
    ...put(out, token.get),
    ...put(out, token.get),
    when(i32.isZero(isOdd(LAYOUT.tokenCount)), put(out, token.get)),
    call(FUNCTION.addBatch, out.get),
  ];
  return [
    i64.store(lastMask, i64.or(i64.load(lastMask), endBit)),
    loop(
      mask.set(i64.load(i32.add(masks.get, i32.shiftRight(blockAt.get, i32.of(3))))),
      block(loop(branchIf(1, i64.isZero(mask.get)), ...addToken, [0x0c, 0])),
      advance(blockAt, BLOCK_BYTES),
      branchIf(0, i32.isZero(i32.less(length.get, blockAt.get))),
    ),
    countTokens,
    when(i32.isZero(i64.isZero(stored(LAYOUT.tokenCount))), finish),
    store(LAYOUT.digits, digits.get),
  ].flat();
}

/**
 * The module's bytes. It exports `memory`, `runFolded` and `runRaw`, both (bytes of text, address for the masks): 8
 * bytes for every 64 of text, and 8 more.
 */
export const writeSimhashProgram = (memoryPages: number): Uint8Array =>
  writeModule(
    [
      writeIsDigits(),
      writeIsUuid(),
      writeTimestampEnd(),
      writeNumberEnd(),
      writeMixBatch(),
      writeAddBatch(),
      writeRun(false),
      writeRun(true),
    ],
    { runFolded: FUNCTION.runFolded, runRaw: FUNCTION.runRaw },
    memoryPages,
  );
