import { expect, it } from 'vitest';
import { isLoopback } from './loopback.js';

it('tells what only this machine can reach from all others', () => {
  const local = ['127.0.0.1', '127.255.10.254', '::1', '[::1]', '::ffff:127.0.0.1', 'LOCALHOST'];
  const others = ['0.0.0.0', '::', '128.0.0.1', '10.127.0.0.1', 'localhost.example.org', ''];
  others.push('127.0.0.1.example.org');
  expect(local.every(isLoopback)).toBe(true);
  expect(others.some(isLoopback)).toBe(false);
});
