import { describe, expect, it } from 'vitest';
import { ConfigError } from './config-error.js';
import {
  pickVariables,
  readBaseUrl,
  readChoice,
  readDurationMs,
  readFlag,
  readInteger,
  readRedisUrl,
  readRedisUrls,
  readShare,
  secretsOfUrl,
} from './variables.js';

const range = { fallback: 5, min: 1, max: 100 };
const hour = { fallback: 3_600_000, min: 1_000, max: 86_400_000 };

describe('environment variables', () => {
  it('count as unset when they are empty', () => {
    expect(pickVariables({ A: ' 1 ', B: ' ', D: '4' }, { a: 'A', b: 'B', c: 'C' })).toEqual({ A: '1' });
  });

  it('are read as what they are', () => {
    expect(['1', '42', '100'].map((A) => readInteger({ A }, 'A', range))).toEqual([1, 42, 100]);
    expect(['1s', '24h'].map((A) => readDurationMs({ A }, 'A', hour))).toEqual([1_000, 86_400_000]);
    expect(readDurationMs({ A: '30m' }, 'A', hour)).toBe(1_800_000);
    expect(readDurationMs({ A: '1800' }, 'A', hour, 's')).toBe(1_800_000);
    expect(readShare({ A: '0.95' }, 'A')).toBe(0.95);
    expect(['.5', '1', '0'].map((A) => readShare({ A }, 'A'))).toEqual([0.5, 1, 0]);
    expect([readFlag({ A: 'Off' }, 'A', true), readFlag({ A: 'On' }, 'A', false)]).toEqual([false, true]);
    expect(readChoice({ A: 'Redis' }, 'A', ['memory', 'redis'])).toBe('redis');
    expect(readBaseUrl({ A: 'http://host:9997/v1' }, 'A')).toBe('http://host:9997/v1');
  });

  it('fall back when unset', () => {
    expect(readInteger({}, 'A', range)).toBe(5);
    expect(readDurationMs({}, 'A', hour)).toBe(3_600_000);
    expect(readShare({}, 'A')).toBeNull();
    expect(readFlag({}, 'A', true)).toBe(true);
    expect(readChoice({}, 'A', ['memory'])).toBeNull();
    expect(readBaseUrl({}, 'A')).toBeNull();
  });

  it.each([
    ['10MB', (v: { A: string }) => readInteger(v, 'A', range)],
    ['1e1', (v: { A: string }) => readInteger(v, 'A', range)],
    ['101', (v: { A: string }) => readInteger(v, 'A', range)],
    ['soon', (v: { A: string }) => readDurationMs(v, 'A', hour)],
    ['999ms', (v: { A: string }) => readDurationMs(v, 'A', hour)],
    ['95%', (v: { A: string }) => readShare(v, 'A')],
    ['1.01', (v: { A: string }) => readShare(v, 'A')],
    ['maybe', (v: { A: string }) => readFlag(v, 'A', false)],
    ['disk', (v: { A: string }) => readChoice(v, 'A', ['memory'])],
  ])('refuse %j with their name and the remedy', (value, read) => {
    expect(() => read({ A: value })).toThrow(ConfigError);
    expect(() => read({ A: value })).toThrow(/^A=.*cannot be used: give /);
  });

  it('name a duration that is unfit with its range, in the units that they take', () => {
    const limits = { fallback: 1_500, min: 0, max: 60_000 };
    expect(() => readDurationMs({ A: 'soon' }, 'A', limits)).toThrow(
      'give a duration in ms, s, m or h, or a number of milliseconds, from 0ms to 60s; unset it for 1500ms.',
    );
    expect(() => readDurationMs({ A: 'soon' }, 'A', limits, 's')).toThrow('or a number of seconds,');
  });

  it('do not repeat an address, which might hold a password', () => {
    for (const A of ['http://user:hunter2@host', 'localhost:9997', 'ftp://hunter2.example', 'hunter2'])
      expect(() => readBaseUrl({ A }, 'A')).toThrow(/^A cannot be used(?!.*hunter2)/);
  });
});

describe('the URL of a Redis', () => {
  it('is taken as it is', () => {
    for (const A of ['redis://127.0.0.1:6379', 'rediss://user:p%25ss@host/1'])
      expect(readRedisUrl({ A }, 'A')).toBe(A);
    expect(readRedisUrl<'A'>({}, 'A')).toBeNull();
  });

  it('may be several, of the nodes of a cluster', () => {
    const read = (A: string) => readRedisUrls({ A }, 'A');
    expect(read('redis://one:1,rediss://two:2 , redis://:a,b@three')).toEqual([
      'redis://one:1',
      'rediss://two:2',
      'redis://:a,b@three',
    ]);
    expect(read('redis://one')).toEqual(['redis://one']);
    expect(readRedisUrls<'A'>({}, 'A')).toEqual([]);
    expect(() => read('redis://one:1,redis://u:hunter%@two')).toThrow(/^A (?!.*hunter).*%25/);
  });

  it('that cannot be used is refused by the name of its variable, and not repeated', () => {
    const read = (A: string) => () => readRedisUrl({ A }, 'A');
    for (const url of ['127.0.0.1:6379', 'http://:hunter2@host'])
      expect(read(url)).toThrow(/^A (?!.*hunter2).*cannot be used: give a URL such as redis:/);
    for (const url of ['redis://user:p%ss@host', 'redis://u%:secret@host'])
      expect(read(url)).toThrow(/^A (?!.*(p%ss|secret)).*cannot be used: .*%25/);
  });

  it('is secret as a whole, and so is its password as it is written and as it is meant', () => {
    expect(secretsOfUrl('redis://:hunter2%21@redis')).toEqual([
      'redis://:hunter2%21@redis',
      'hunter2%21',
      'hunter2!',
    ]);
    expect(secretsOfUrl('redis://redis')).toEqual(['redis://redis']);
  });
});
