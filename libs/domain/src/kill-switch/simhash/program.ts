/**
 * The inner loop of the kill switch's SimHash, as a WebAssembly program, since it stands on every call's path and a
 * prompt may be long: where JavaScript took 3 ns a character for finding and hashing the words alone, this takes 1.7 for
 * everything (a string's characters are dear to read one by one, a 64-bit sum is two of 32, and there is no SIMD).
 * What it computes, over UTF-8 in its memory:
 *
 *     bytes  --classify-->  tokens  --three in a row-->  features  --64 vertical counters-->  sums per bit
 *
 * - A *token* is a run of word bytes (ASCII letters and digits, everything beyond ASCII) or a run of other visible
 *   characters. White space and control characters only part word runs. Ideographs, kana, Hangul and emoji (UTF-8 lead
 *   bytes from 0xE3) are a token each, since no space parts them. A long token counts as pieces of 16 bytes.
 * - Folded: letters in lower case; a number, a UUID, an ISO 8601 date or timestamp is one symbol. Raw: neither.
 * - A *feature* is the hash of three consecutive tokens, with borders before the first and after the last, so that each
 *   token, the outer ones too, is in three features.
 * - The *counters* are bit-sliced: plane k holds bit k of all 64 counts. Features are added 32 at a time with
 *   carry-save adders (Harley and Seal), about three instructions a feature instead of 64.
 * - The hash over all features counts twice or three times (so that the total is odd and no bit can tie): short texts
 *   that differ in one word differ in many bits.
 */

import {
  advance,
  block,
  branch,
  branchIf,
  bytes16,
  type Code,
  call,
  FunctionWriter,
  i32,
  i64,
  loop,
  select,
  type Variable,
  variables,
  when,
  writeModule,
} from '#kernel/wasm-writer';
import { classify } from './classify.js';
import { writeAddBatch, writeMixBatch } from './counters.js';
import {
  BATCH_COUNT,
  BLOCK_BYTES,
  BORDER,
  FUNCTION,
  LAYOUT,
  MIX_FEATURE,
  MIX_LAST,
  MIX_TOKEN,
  PIECE_BYTES,
} from './layout.js';
import { byteAt, foldDown, isDigit, put, rotate, store, stored } from './phrases.js';
import { writeIsDigits, writeIsUuid, writeNumberEnd, writeReplace, writeTimestampEnd } from './symbols.js';

/** (bytes of text, address of the masks): folds the text in place and fills in the sums. */
function writeRun(isRaw: boolean): FunctionWriter {
  const writer = new FunctionWriter(['i32', 'i32'], null);
  const [length, masks] = [writer.parameter(0), writer.parameter(1)];
  const zero = bytes16.splat(i32.of(0));
  const clear = (address: Code, offset: number, count: number): Code[] =>
    Array.from({ length: count / 16 }, (_, index) => bytes16.store(address, zero, offset + 16 * index));
  writer.body = [
    ...clear(i32.of(0), LAYOUT.planes, LAYOUT.pieceMask - LAYOUT.planes),
    ...clear(length.get, LAYOUT.text, LAYOUT.paddingBytes),
    store(LAYOUT.before, i64.of(BORDER)),
    store(LAYOUT.beforeThat, i64.of(BORDER)),
    classify(writer, length, masks, isRaw),
    isRaw ? hashDigits(writer, length, masks) : replaceSymbols(writer, length, masks),
    addTokens(writer, length, masks),
  ].flat();
  return writer;
}

/** Runs `body` with `position` on each place that the second pass must look at, in order. */
function eachPlace(
  writer: FunctionWriter,
  length: Variable,
  masks: Variable,
  position: Variable,
  body: Code[],
): Code {
  const blockAt = writer.variable('i32');
  const mask = writer.variable('i64');
  return loop(
    mask.set(i64.load(i32.add(masks.get, i32.shiftRight(blockAt.get, i32.of(2))), 8)),
    block(
      loop(
        branchIf(1, i64.isZero(mask.get)),
        position.set(i32.add(blockAt.get, i32.ofI64(i64.countTrailingZeros(mask.get)))),
        mask.set(i64.and(mask.get, i64.sub(mask.get, i64.of(1n)))),
        ...body,
        branch(0),
      ),
    ),
    advance(blockAt, BLOCK_BYTES),
    branchIf(0, i32.isZero(i32.less(length.get, blockAt.get))),
  );
}

/** Second pass, folded: puts symbols where numbers, UUIDs and timestamps stand. */
function replaceSymbols(writer: FunctionWriter, length: Variable, masks: Variable): Code {
  const position = writer.variable('i32');
  return eachPlace(writer, length, masks, position, [call(FUNCTION.replace, position.get, masks.get)]);
}

/** Second pass, raw: one hash over all digits, and over where they part. */
function hashDigits(writer: FunctionWriter, length: Variable, masks: Variable): Code {
  const position = writer.variable('i32');
  const hash = writer.variable('i64');
  const mix = (value: Code): Code => hash.set(i64.mul(i64.xor(hash.get, value), i64.of(MIX_TOKEN)));
  return [
    ...eachPlace(writer, length, masks, position, [
      loop(mix(i64.ofI32(byteAt(position.get))), advance(position, 1), branchIf(0, isDigit(position.get))),
      foldDown(hash, 32n),
      mix(i64.of(1n)),
    ]),
    ...store(LAYOUT.digits, hash.get),
  ];
}

/** The hash of two words of eight bytes each, the first to come first; not yet folded. */
const hashOf = (first: Code, second: Code): Code =>
  i64.mul(i64.add(first, rotate(second, 29)), i64.of(MIX_TOKEN));

/** While tokens are found, the end of the batch is counted from eight bytes before its beginning: see addTokens. */
const AHEAD_BYTES = 8;
const bytesOf = (out: Variable): Code => i32.sub(out.get, i32.of(AHEAD_BYTES));
const putToken = (out: Variable, token: Code): Code[] => [
  i64.store(out.get, token, LAYOUT.batch - AHEAD_BYTES),
  advance(out, 8),
];

const countTokens = (out: Variable): Code =>
  store(
    LAYOUT.tokenCount,
    i64.add(stored(LAYOUT.tokenCount), i64.ofI32(i32.shiftRight(bytesOf(out), i32.of(3)))),
  );

/** Makes room in a batch that is full, or nearly. */
const drainFull = (out: Variable): Code =>
  when(i32.less(i32.of(8 * BATCH_COUNT), out.get), [
    countTokens(out),
    call(FUNCTION.mixBatch, bytesOf(out)),
    call(FUNCTION.addBatch, bytesOf(out)),
    out.set(i32.of(AHEAD_BYTES)),
  ]);

/** (from, to, end of the batch) -> its new end: a token of more than sixteen bytes, white space behind it included. */
function writeLongToken(): FunctionWriter {
  const writer = new FunctionWriter(['i32', 'i32', 'i32'], 'i32');
  const [from, to, out] = [writer.parameter(0), writer.parameter(1), writer.parameter(2)];
  const maskAt = writer.variable('i32');
  const [first, second, token] = variables(writer, 'i64', 3);
  const left = i32.sub(to.get, from.get);
  writer.body = [
    loop(
      maskAt.set(
        i32.sub(i32.of(PIECE_BYTES), select(i32.less(left, i32.of(PIECE_BYTES)), left, i32.of(PIECE_BYTES))),
      ),
      first.set(i64.and(i64.load(from.get, LAYOUT.text), i64.load(maskAt.get, LAYOUT.pieceMask))),
      second.set(i64.and(i64.load(from.get, LAYOUT.text + 8), i64.load(maskAt.get, LAYOUT.pieceMask + 8))),
      token.set(hashOf(first.get, second.get)),
      foldDown(token, 32n),
      // A piece of white space is no token, except before the first one: see addTokens.
      when(
        i32.or(i32.isZero(out.get), i64.notEqual(i64.or(first.get, second.get), i64.of(0n))),
        putToken(out, token.get),
      ),
      drainFull(out),
      advance(from, PIECE_BYTES),
      branchIf(0, i32.lessSigned(from.get, to.get)),
    ),
    out.get,
  ].flat();
  return writer;
}

/**
 * Third pass: from one start to the next, token by token. What comes before the first start, white space or nothing,
 * is taken for a token like the others and put ahead of the batch, so that no token needs to be asked whether it is one.
 */
function addTokens(writer: FunctionWriter, length: Variable, masks: Variable): Code {
  const [blockAt, to, start, out, size] = variables(writer, 'i32', 5);
  const [mask, token] = variables(writer, 'i64', 2);
  const maskAt = i32.sub(i32.of(PIECE_BYTES), size.get);
  const part = (offset: 0 | 8): Code =>
    i64.and(i64.load(start.get, LAYOUT.text + offset), i64.load(maskAt, LAYOUT.pieceMask + offset));
  const [next, long] = [3, 1];
  const addToken: Code[] = [
    branchIf(next, i64.isZero(mask.get)),
    to.set(i32.add(blockAt.get, i32.ofI64(i64.countTrailingZeros(mask.get)))),
    mask.set(i64.and(mask.get, i64.sub(mask.get, i64.of(1n)))),
    size.set(i32.sub(to.get, start.get)),
    branchIf(long, i32.less(i32.of(PIECE_BYTES), size.get)),
    token.set(hashOf(part(0), part(8))),
    foldDown(token, 32n),
    ...putToken(out, token.get),
    start.set(to.get),
  ];
  /** The calls stand outside the innermost loop: the engine keeps no register across one. */
  const addBlock = block(
    loop(
      block(loop(...addToken, ...addToken, ...addToken, ...addToken, branch(0))),
      out.set(call(FUNCTION.longToken, start.get, to.get, out.get)),
      start.set(to.get),
      branch(0),
    ),
  );
  const lastMask = i32.add(masks.get, i32.shiftLeft(i32.shiftRight(length.get, i32.of(6)), i32.of(4)));
  const endBit = i64.shiftLeft(i64.of(1n), i64.ofI32(i32.and(length.get, i32.of(BLOCK_BYTES - 1))));
  const isCountOdd = i32.and(i32.ofI64(stored(LAYOUT.tokenCount)), i32.of(1));
  const finish: Code[] = [
    ...put(out, i64.of(BORDER)),
    ...put(out, i64.of(BORDER)),
    call(FUNCTION.mixBatch, out.get),
    token.set(i64.mul(stored(LAYOUT.exact), i64.of(MIX_LAST))),
    foldDown(token, 29n),
    token.set(i64.mul(token.get, i64.of(MIX_FEATURE))),
    foldDown(token, 32n),
    ...put(out, token.get),
    ...put(out, token.get),
    when(i32.isZero(isCountOdd), put(out, token.get)),
    call(FUNCTION.addBatch, out.get),
  ];
  return [
    i64.store(lastMask, i64.or(i64.load(lastMask), endBit)),
    loop(
      mask.set(i64.load(i32.add(masks.get, i32.shiftRight(blockAt.get, i32.of(2))))),
      // No block has more than 64 tokens that are not long, and the batch has room for them.
      drainFull(out),
      addBlock,
      advance(blockAt, BLOCK_BYTES),
      branchIf(0, i32.isZero(i32.less(length.get, blockAt.get))),
    ),
    countTokens(out),
    out.set(bytesOf(out)),
    when(i32.isZero(i64.isZero(stored(LAYOUT.tokenCount))), finish),
  ].flat();
}

/**
 * The module's bytes. It exports `memory`, `runFolded` and `runRaw`, both (bytes of text, address for the masks): 16
 * bytes for every 64 of text, and 16 more.
 */
export const writeSimhashProgram = (memoryPages: number): Uint8Array =>
  writeModule(
    [
      writeIsDigits(),
      writeIsUuid(),
      writeTimestampEnd(),
      writeNumberEnd(),
      writeReplace(),
      writeLongToken(),
      writeMixBatch(),
      writeAddBatch(),
      writeRun(false),
      writeRun(true),
    ],
    { runFolded: FUNCTION.runFolded, runRaw: FUNCTION.runRaw },
    memoryPages,
  );
