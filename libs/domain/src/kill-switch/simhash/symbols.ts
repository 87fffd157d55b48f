/**
 * The part of the SimHash program that finds numbers, UUIDs and timestamps in folded text and puts a symbol in their
 * place. `normalise.ts` has the same rules as regular expressions, and a test holds the two against each other.
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
  giveBack,
  i32,
  i64,
  loop,
  select,
  variables,
  when,
} from '#kernel/wasm-writer';
import { BLOCK_BYTES, FUNCTION, LAYOUT, SYMBOL, UUID_BYTES } from './layout.js';
import { all, code, isByte, isDigit, isDigits, isHexDigit, isWordByte, skipWhile } from './phrases.js';

/** (position, count) -> 1 if `count` digits stand there. */
export function writeIsDigits(): FunctionWriter {
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
export function writeIsUuid(): FunctionWriter {
  const writer = new FunctionWriter(['i32'], 'i32');
  const position = writer.parameter(0);
  const half = writer.variable('v128');
  const hyphens = [8, 13, 18, 23];
  const hexDigits = ~hyphens.reduce((bits, at) => bits | (1 << at), 0);
  const isIn = (first: string, count: number): Code =>
    bytes16.atMost(bytes16.sub(half.get, bytes16.splat(code(first))), bytes16.splat(i32.of(count - 1)));
  const hexBits = bytes16.topBits(bytes16.or(isIn('0', 10), isIn('a', 6)));
  const bits = writer.variable('i32');
  writer.body = [
    half.set(bytes16.load(position.get, LAYOUT.text)),
    bits.set(hexBits),
    half.set(bytes16.load(position.get, LAYOUT.text + 16)),
    bits.set(i32.or(bits.get, i32.shiftLeft(hexBits, i32.of(16)))),
    when(i32.isZero(i32.equal(bits.get, i32.of(hexDigits))), [giveBack(i32.of(0))]),
    all(
      ...hyphens.map((at) => isByte(position.get, '-', at)),
      ...[32, 33, 34, 35].map((at) => isHexDigit(position.get, at)),
      i32.isZero(isWordByte(i32.add(position.get, i32.of(UUID_BYTES)))),
    ),
  ].flat();
  return writer;
}

/** (position) -> end of the ISO 8601 date or timestamp (extended format) that begins there; 0 for none. */
export function writeTimestampEnd(): FunctionWriter {
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
export function writeNumberEnd(): FunctionWriter {
  const writer = new FunctionWriter(['i32'], 'i32');
  const position = writer.parameter(0);
  const isSignedDigit = i32.and(
    i32.or(isByte(position.get, '+', 1), isByte(position.get, '-', 1)),
    isDigit(position.get, 2),
  );
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
        branch(1),
      ]),
    ),
    when(isByte(position.get, 'e'), [
      when(
        isDigit(position.get, 1),
        [advance(position, 1), skipWhile(position, isDigit(position.get))],
        [when(isSignedDigit, [advance(position, 2), skipWhile(position, isDigit(position.get))])],
      ),
    ]),
    position.get,
  ].flat();
  return writer;
}

/** (position of a digit, or of the first hyphen of what may be a UUID; masks): replaces what stands there by its symbol. */
export function writeReplace(): FunctionWriter {
  const writer = new FunctionWriter(['i32', 'i32'], null);
  const [position, masks] = [writer.parameter(0), writer.parameter(1)];
  const [symbol, end, inner, count] = variables(writer, 'i32', 4);
  const uuidStart = i32.sub(position.get, i32.of(8));
  const bitAt = (at: Code): Code => i64.ofI32(i32.and(at, i32.of(BLOCK_BYTES - 1)));
  /** Changes the word of the masks that holds the bit. */
  const change = (at: Code, how: (word: Code) => Code): Code => {
    const address = i32.add(masks.get, i32.shiftLeft(i32.shiftRight(at, i32.of(6)), i32.of(4)));
    return i64.store(address, how(i64.load(address)));
  };
  const countInWord = i32.sub(i32.of(BLOCK_BYTES), i32.and(inner.get, i32.of(BLOCK_BYTES - 1)));
  const countLeft = i32.sub(end.get, inner.get);
  const innerBits = i64.shiftLeft(
    i64.shiftRight(i64.of(-1n), i64.ofI32(i32.sub(i32.of(BLOCK_BYTES), count.get))),
    bitAt(inner.get),
  );
  const clearStarts = block(
    loop(
      branchIf(1, i32.isZero(i32.less(inner.get, end.get))),
      count.set(select(i32.less(countLeft, countInWord), countLeft, countInWord)),
      change(inner.get, (word) => i64.and(word, i64.xor(innerBits, i64.of(-1n)))),
      inner.set(i32.add(inner.get, count.get)),
      branch(0),
    ),
  );
  const clearText = block(
    loop(
      branchIf(1, i32.isZero(i32.less(position.get, end.get))),
      i32.storeByte(position.get, i32.of(0), LAYOUT.text),
      advance(position, 1),
      branch(0),
    ),
  );
  writer.body = [
    when(
      isDigit(position.get),
      [
        when(isByte(position.get, '-', 8), [
          when(call(FUNCTION.isUuid, position.get), [
            symbol.set(i32.of(SYMBOL.uuid)),
            end.set(i32.add(position.get, i32.of(UUID_BYTES))),
          ]),
        ]),
        when(i32.isZero(end.get), [
          symbol.set(i32.of(SYMBOL.timestamp)),
          end.set(call(FUNCTION.timestampEnd, position.get)),
        ]),
        when(i32.isZero(end.get), [
          symbol.set(i32.of(SYMBOL.number)),
          end.set(call(FUNCTION.numberEnd, position.get)),
        ]),
      ],
      [
        // Zero by now where a number or a timestamp was replaced that this belonged to.
        when(i32.isZero(isByte(position.get, '-')), [giveBack([])]),
        when(i32.isZero(call(FUNCTION.isUuid, uuidStart)), [giveBack([])]),
        symbol.set(i32.of(SYMBOL.uuid)),
        position.set(uuidStart),
        end.set(i32.add(position.get, i32.of(UUID_BYTES))),
      ],
    ),
    // The rest becomes white space in which no token starts; a unit behind it, as in 10ms, is a token of its own.
    i32.storeByte(position.get, symbol.get, LAYOUT.text),
    advance(position, 1),
    inner.set(position.get),
    clearText,
    clearStarts,
    when(isWordByte(end.get), [
      change(end.get, (word) => i64.or(word, i64.shiftLeft(i64.of(1n), bitAt(end.get)))),
    ]),
  ].flat();
  return writer;
}
