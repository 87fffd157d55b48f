import { expect, it } from 'vitest';
import { tightMemory } from './tight-memory.js';

const MEBIBYTE = 1024 ** 2;

it('says that the heap outgrows its container, and nothing where it fits or nobody knows', () => {
  expect(tightMemory(448 * MEBIBYTE, 256 * MEBIBYTE)).toContain(
    '448 MiB, and this container may have 256 MiB',
  );
  expect(tightMemory(769 * MEBIBYTE, 1024 * MEBIBYTE)).not.toBeNull();
  expect(tightMemory(768 * MEBIBYTE, 1024 * MEBIBYTE)).toBeNull();
  expect(tightMemory(448 * MEBIBYTE, 0)).toBeNull();
  expect(tightMemory(4288 * MEBIBYTE, 2 ** 64)).toBeNull();
});
