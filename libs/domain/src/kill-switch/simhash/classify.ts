/** The part of the SimHash program that looks at every byte, sixteen at a time. */

import {
  advance,
  branchIf,
  bytes16,
  type Code,
  type FunctionWriter,
  i32,
  i64,
  loop,
  type Variable,
  variables,
} from '#kernel/wasm-writer';
import { BLOCK_BYTES, LAYOUT } from './layout.js';
import { code } from './phrases.js';

/**
 * First pass: folds the text, zeroes its white space, and leaves two words a block: where tokens start, and what the
 * next pass must look at. That is, folded, a digit that starts a token and a hyphen with a token of 8 bytes before it;
 * raw, every digit without a digit before it.
 */
export function classify(writer: FunctionWriter, length: Variable, masks: Variable, isRaw: boolean): Code {
  const at = writer.variable('i32');
  const [vector, isSpace, isDigitByte] = variables(writer, 'v128', 3);
  const [words, spaces, leads, digits, hyphens, others] = variables(writer, 'i64', 6);
  const [wordBefore, otherBefore, digitBefore, starts, startsBefore] = variables(writer, 'i64', 5);
  const setup: Code[] = [];
  /** The same byte sixteen times, made once. */
  const constant = (value: Code): Code => {
    const held = writer.variable('v128');
    setup.push(held.set(bytes16.splat(value)));
    return held.get;
  };
  const caseBit = constant(i32.of(0x20));
  const [upperA, lowerA, zero, hyphen] = [...'Aa0-'].map((one) => constant(code(one))) as [
    Code,
    Code,
    Code,
    Code,
  ];
  const [lastLetter, lastDigit] = [constant(i32.of(25)), constant(i32.of(9))];
  const [space, ideograph] = [constant(i32.of(0x20)), constant(i32.of(0xe3))];
  const isUpper = bytes16.atMost(bytes16.sub(vector.get, upperA), lastLetter);
  const isLetter = bytes16.atMost(bytes16.sub(bytes16.or(vector.get, caseBit), lowerA), lastLetter);
  const folded = isRaw ? vector.get : bytes16.or(vector.get, bytes16.and(isUpper, caseBit));

  const quarter = (index: number): Code[] => {
    const gather = (into: Variable, bits: Code) =>
      into.set(i64.or(into.get, i64.shiftLeft(i64.ofI32(bytes16.topBits(bits)), i64.of(BigInt(16 * index)))));
    return [
      vector.set(bytes16.load(at.get, LAYOUT.text + 16 * index)),
      isSpace.set(bytes16.atMost(vector.get, space)),
      isDigitByte.set(bytes16.atMost(bytes16.sub(vector.get, zero), lastDigit)),
      // The top bit is all that is gathered, and every byte beyond ASCII has it.
      gather(words, bytes16.or(bytes16.or(isLetter, isDigitByte.get), vector.get)),
      gather(spaces, isSpace.get),
      gather(digits, isDigitByte.get),
      gather(leads, bytes16.atLeast(vector.get, ideograph)),
      ...(isRaw ? [] : [gather(hyphens, bytes16.equal(vector.get, hyphen))]),
      bytes16.store(at.get, bytes16.andNot(folded, isSpace.get), LAYOUT.text + 16 * index),
    ];
  };
  /** Set where the class begins: in it, and the byte before is not. */
  const beginnings = (members: Variable, before: Variable): Code =>
    i64.and(members.get, i64.xor(i64.or(i64.shiftLeft(members.get, i64.of(1n)), before.get), i64.of(-1n)));
  const lastBit = (members: Variable): Code => i64.shiftRight(members.get, i64.of(63n));
  const eightAfterStart = i64.or(
    i64.shiftLeft(starts.get, i64.of(8n)),
    i64.shiftRight(startsBefore.get, i64.of(56n)),
  );
  const toLookAt = isRaw
    ? beginnings(digits, digitBefore)
    : i64.or(i64.and(starts.get, digits.get), i64.and(hyphens.get, eightAfterStart));
  const maskAddress = i32.add(masks.get, i32.shiftRight(at.get, i32.of(2)));
  return [
    ...setup.flat(),
    ...loop(
      ...[words, spaces, leads, digits, hyphens].map((mask) => mask.set(i64.of(0n))),
      ...[0, 1, 2, 3].flatMap(quarter),
      others.set(i64.xor(i64.or(words.get, spaces.get), i64.of(-1n))),
      starts.set(i64.or(i64.or(beginnings(words, wordBefore), beginnings(others, otherBefore)), leads.get)),
      i64.store(maskAddress, starts.get),
      i64.store(maskAddress, toLookAt, 8),
      wordBefore.set(lastBit(words)),
      otherBefore.set(lastBit(others)),
      digitBefore.set(lastBit(digits)),
      startsBefore.set(starts.get),
      advance(at, BLOCK_BYTES),
      // One block more than the text may need: it holds the mark that ends the last token.
      branchIf(0, i32.isZero(i32.less(length.get, at.get))),
    ),
  ];
}
