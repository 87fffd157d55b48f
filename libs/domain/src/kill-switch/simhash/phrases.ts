/** Turns of phrase of the SimHash program, shared by its parts. */

import {
  advance,
  block,
  branch,
  branchIf,
  type Code,
  call,
  i32,
  i64,
  loop,
  type Variable,
} from '#kernel/wasm-writer';
import { FUNCTION, LAYOUT } from './layout.js';

export const code = (character: string): Code => i32.of(character.charCodeAt(0));
export const byteAt = (position: Code, offset = 0): Code => i32.loadByte(position, LAYOUT.text + offset);
export const isByte = (position: Code, character: string, offset = 0): Code =>
  i32.equal(byteAt(position, offset), code(character));
const isInRange = (byte: Code, first: string, last: string): Code =>
  i32.less(i32.sub(byte, code(first)), i32.of(last.charCodeAt(0) - first.charCodeAt(0) + 1));
export const isDigit = (position: Code, offset = 0): Code => isInRange(byteAt(position, offset), '0', '9');
export const isDigits = (position: Code, count: number, offset = 0): Code =>
  call(FUNCTION.isDigits, offset === 0 ? position : i32.add(position, i32.of(offset)), i32.of(count));
/** The text is in lower case by now. */
export const isHexDigit = (position: Code, offset = 0): Code =>
  i32.or(isDigit(position, offset), isInRange(byteAt(position, offset), 'a', 'f'));
export const isWordByte = (position: Code): Code =>
  i32.or(
    i32.or(isDigit(position), isInRange(byteAt(position), 'a', 'z')),
    i32.atLeastSigned(byteAt(position), i32.of(0x80)),
  );
export const all = (...conditions: Code[]): Code => conditions.reduce((left, right) => i32.and(left, right));

/** Reads on while `condition` holds at `position`. */
export const skipWhile = (position: Variable, condition: Code): Code =>
  block(loop(branchIf(1, i32.isZero(condition)), advance(position, 1), branch(0)));

export const rotate = (value: Code, by: number): Code => i64.rotateLeft(value, i64.of(BigInt(by)));
export const foldDown = (value: Variable, by: bigint): Code =>
  value.set(i64.xor(value.get, i64.shiftRight(value.get, i64.of(by))));
export const stored = (address: number): Code => i64.load(i32.of(0), address);
export const store = (address: number, value: Code): Code => i64.store(i32.of(0), value, address);
export const put = (address: Variable, value: Code): Code[] => [
  i64.store(address.get, value, LAYOUT.batch),
  advance(address, 8),
];
