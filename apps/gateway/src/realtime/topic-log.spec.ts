import { describe, expect, test } from 'vitest';
import { TopicLog } from './topic-log.js';

const log = () =>
  new TopicLog('gateway:messages', { startSeq: 100, recentCountMax: 3, recentCharsMax: 1_000 });

describe('TopicLog', () => {
  test('numbers events without a gap, from its start', () => {
    const topic = log();
    topic.watch();
    topic.append('a');
    topic.append('b');
    expect(topic.takeFrame()).toEqual({
      topic: 'gateway:messages',
      from_seq: 101,
      to_seq: 102,
      events: [
        { seq: 101, payload: 'a' },
        { seq: 102, payload: 'b' },
      ],
    });
    expect(topic.takeFrame()).toBeNull();
  });

  test('has a frame for the last who watches, and then for nobody', () => {
    const topic = log();
    topic.append('before');
    expect(topic.takeFrame()).toBeNull();
    for (const _watcher of ['one', 'other']) topic.watch();
    topic.unwatch();
    topic.append('a');
    expect(topic.takeFrame()).toMatchObject({ from_seq: 102, to_seq: 102 });
    topic.append('b');
    topic.unwatch();
    expect(topic.takeFrame()).toBeNull();
    expect(topic.newest(3)).toEqual(['before', 'a', 'b']);
  });

  test('gives back exactly what came after a number', () => {
    const topic = log();
    for (const payload of ['a', 'b', 'c']) topic.append(payload);
    expect(topic.since(101)?.map((event) => event.payload)).toEqual(['b', 'c']);
    expect(topic.since(103)).toEqual([]);
    expect(topic.newest(2)).toEqual(['b', 'c']);
  });

  test('knows when it no longer has what was missed', () => {
    const topic = log();
    for (const payload of ['a', 'b', 'c', 'd']) topic.append(payload);
    expect(topic.since(101)?.length).toBe(3);
    expect(topic.since(100)).toBeNull();
  });

  test('keeps no more text than it may, and the newest event whatever its length', () => {
    const topic = log();
    topic.watch();
    topic.append('a', 400);
    topic.append('b', 400);
    topic.append('c', 400);
    expect(topic.newest(3)).toEqual(['b', 'c']);
    expect(topic.since(100)).toBeNull();
    topic.append('d', 5_000);
    expect(topic.newest(3)).toEqual(['d']);
    expect(topic.takeFrame()?.events).toHaveLength(4);
    topic.append('e');
    expect(topic.newest(3)).toEqual(['e']);
  });

  test('refuses a number from the future or from another life', () => {
    const topic = log();
    topic.append('a');
    expect(topic.since(102)).toBeNull();
    expect(topic.since(5)).toBeNull();
  });
});
