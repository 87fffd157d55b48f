import { EventEmitter } from 'node:events';
import type { Server } from 'node:net';
import type { Logger } from 'pino';
import { expect, it, vi } from 'vitest';
import { FakeClock } from '#testing';
import { Descriptors } from './descriptors.js';

const failure = (code: string) => Object.assign(new Error(code), { code });

function setUp(open?: () => number) {
  const clock = new FakeClock();
  const error = vi.fn();
  const descriptors = new Descriptors({
    logger: { error } as unknown as Logger,
    clock,
    ...(open && { open }),
  });
  return { descriptors, clock, codes: () => error.mock.calls.map(([entry]) => entry.code) };
}

it('says once a minute that there are none, and nothing while there are', () => {
  expect(setUp().descriptors.areUsedUp()).toBe(false);
  const { descriptors, clock, codes } = setUp(() => {
    throw failure('EMFILE');
  });
  for (let second = 0; second <= 60; second += 1) {
    expect(descriptors.areUsedUp()).toBe(true);
    clock.advance(1_000);
  }
  expect(codes()).toEqual(['EMFILE', 'EMFILE']);
});

it('says that a server cannot accept, which else would end the process', () => {
  const { descriptors, codes } = setUp();
  const server = new EventEmitter();
  descriptors.watch(server as Server);
  server.emit('error', failure('ENOBUFS'));
  server.emit('close');
  expect(codes()).toEqual(['ENOBUFS']);
});
