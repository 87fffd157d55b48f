import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { ObservatoryError, sessionKey } from '#contracts';
import { HitlEvents } from './hitl-events.js';

it('a look that a busy store refuses is counted, and no line of the log: there is one for each session of a socket', async () => {
  const lines: string[] = [];
  const metrics = new Registry();
  const logger = { warn: (_: unknown, line: string) => lines.push(line) } as unknown as Logger;
  const events = new HitlEvents(logger, metrics);
  const key = sessionKey('default', 's-1');
  events.lookFailed(key, new ObservatoryError('store_busy'));
  expect(lines).toEqual([]);
  expect(await metrics.metrics()).toMatch(/\{what="look"\} 1/);
  events.lookFailed(key, new Error('disk I/O error'));
  expect(lines).toEqual(['control not read for a new listener']);
});
