/** The part of the SimHash program that turns hashes of tokens into features, and counts the bits of those. */

import {
  advance,
  block,
  branch,
  branchIf,
  bytes16,
  type Code,
  FunctionWriter,
  i32,
  i64,
  loop,
  type Variable,
} from '#kernel/wasm-writer';
import { FEATURES_PER_SUM, LAYOUT, MIX_FEATURE } from './layout.js';
import { foldDown, put, rotate, store, stored } from './phrases.js';

/** (bytes): the hashes in the batch become features, each with the two tokens before it. */
export function writeMixBatch(): FunctionWriter {
  const writer = new FunctionWriter(['i32'], null);
  const end = writer.parameter(0);
  const at = writer.variable('i32');
  const [token, feature, before, beforeThat, exact] = Array.from({ length: 5 }, () =>
    writer.variable('i64'),
  ) as [Variable, Variable, Variable, Variable, Variable];
  const context = i64.xor(rotate(before.get, 23), rotate(beforeThat.get, 47));
  const mixOne: Code[] = [
    token.set(i64.load(at.get, LAYOUT.batch)),
    feature.set(i64.mul(i64.xor(token.get, context), i64.of(MIX_FEATURE))),
    foldDown(feature, 29n),
    beforeThat.set(before.get),
    before.set(token.get),
    exact.set(i64.add(rotate(exact.get, 5), feature.get)),
    ...put(at, feature.get),
  ];
  writer.body = [
    before.set(stored(LAYOUT.before)),
    beforeThat.set(stored(LAYOUT.beforeThat)),
    exact.set(stored(LAYOUT.exact)),
    // Four at a time while there are: a turn of the loop costs as much as a feature.
    block(
      loop(
        branchIf(1, i32.less(end.get, i32.add(at.get, i32.of(32)))),
        ...[0, 1, 2, 3].flatMap(() => mixOne),
        branch(0),
      ),
    ),
    block(loop(branchIf(1, i32.isZero(i32.less(at.get, end.get))), ...mixOne, branch(0))),
    store(LAYOUT.before, before.get),
    store(LAYOUT.beforeThat, beforeThat.get),
    store(LAYOUT.exact, exact.get),
  ].flat();
  return writer;
}

/**
 * (bytes): adds the features of the batch to the planes, two side by side. Thirty-two at a time become, by fifteen
 * carry-save additions, four planes and an overflow worth sixteen, which is put in the batch's place; the overflows are
 * then added the same way to the next four planes, and so on until nothing overflows.
 */
export function writeAddBatch(): FunctionWriter {
  const writer = new FunctionWriter(['i32'], null);
  const end = writer.parameter(0);
  const [at, out, plane] = [writer.variable('i32'), writer.variable('i32'), writer.variable('i32')];
  const [half, third, overflows] = [
    writer.variable('v128'),
    writer.variable('v128'),
    writer.variable('v128'),
  ];
  const sums = [0, 1, 2, 3].map(() => writer.variable('v128'));
  const pair = (index: number): Code => bytes16.load(at.get, LAYOUT.batch + 16 * index);
  const tree: Code[] = [];

  /** sum, left, right -> sum and `into`, its carry. */
  const addThree = (sum: Variable, left: Code, right: Code, into: Variable): void => {
    tree.push(
      half.set(bytes16.xor(sum.get, left)),
      third.set(right),
      into.set(bytes16.or(bytes16.and(sum.get, left), bytes16.and(half.get, third.get))),
      sum.set(bytes16.xor(half.get, third.get)),
    );
  };
  /** Adds 2^(level+1) pairs from `first` on to the sums up to `level`; what overflows is in the variable returned. */
  const addTree = (level: number, first: number): Variable => {
    const into = writer.variable('v128');
    const sum = sums[level] as Variable;
    if (level === 0) addThree(sum, pair(first), pair(first + 1), into);
    else {
      const left = addTree(level - 1, first);
      const right = addTree(level - 1, first + 2 ** level);
      addThree(sum, left.get, right.get, into);
    }
    return into;
  };
  const overflow = addTree(3, 0);
  const zero = bytes16.splat(i32.of(0));
  const planeAddress = i32.shiftLeft(plane.get, i32.of(4));
  const fillUp = block(
    loop(
      branchIf(1, i32.isZero(i32.and(end.get, i32.of(8 * FEATURES_PER_SUM - 1)))),
      i64.store(end.get, i64.of(0n), LAYOUT.batch),
      advance(end, 8),
      branch(0),
    ),
  );
  writer.body = [
    loop(
      fillUp,
      at.set(i32.of(0)),
      out.set(i32.of(0)),
      overflows.set(zero),
      ...sums.map((sum, k) => sum.set(bytes16.load(planeAddress, LAYOUT.planes + 16 * k))),
      loop(
        ...tree,
        bytes16.store(out.get, overflow.get, LAYOUT.batch),
        overflows.set(bytes16.or(overflows.get, overflow.get)),
        advance(out, 16),
        advance(at, 8 * FEATURES_PER_SUM),
        branchIf(0, i32.less(at.get, end.get)),
      ),
      ...sums.map((sum, k) => bytes16.store(planeAddress, sum.get, LAYOUT.planes + 16 * k)),
      end.set(out.get),
      advance(plane, sums.length),
      branchIf(0, i32.and(bytes16.isAnySet(overflows.get), i32.less(plane.get, i32.of(LAYOUT.planeCount)))),
    ),
  ].flat();
  return writer;
}
