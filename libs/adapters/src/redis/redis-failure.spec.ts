import { expect, it } from 'vitest';
import { connectRedis } from './connect-redis.js';
import { RedisFailure, toRedisFailure } from './redis-failure.js';

const CANARY = 'canary-secret-91c2';

it.each([
  [
    Object.assign(new Error(`connect ECONNREFUSED ${CANARY}`), { code: 'ECONNREFUSED' }),
    'disconnected',
    'ECONNREFUSED',
  ],
  [
    Object.assign(new Error(`WRONGPASS ${CANARY}`), { name: 'ReplyError', command: { args: [CANARY] } }),
    'reply',
    'WRONGPASS',
  ],
  [
    Object.assign(
      new Error(`ERR Error running script (call to f_${CANARY}): @user_script:7: -READONLY You can't`),
      {
        name: 'ReplyError',
      },
    ),
    'reply',
    'READONLY',
  ],
  [Object.assign(new Error(`no code here ${CANARY}`), { name: 'ReplyError' }), 'reply', null],
  [new Error("Stream isn't writeable and enableOfflineQueue options is false"), 'disconnected', null],
  [Object.assign(new Error('odd'), { code: CANARY }), 'disconnected', null],
  [CANARY, 'disconnected', null],
])('keeps of %s a reason and a code, and nothing else', (error, reason, code) => {
  const failure = toRedisFailure(error);
  expect(failure).toMatchObject({ name: 'RedisFailure', reason, code });
  expect(`${failure.stack} ${JSON.stringify(failure)}`).not.toContain(CANARY);
  expect(failure.cause).toBeUndefined();
});

it.each([
  ['6', '@user_script:7: -NOPERM The user executing the script'],
  ['7.0', "The user executing the script can't run this command or subcommand script: f1"],
  ['7.2', "ACL failure in script: User u has no permissions to run the 'time' command"],
])('knows the words in which Redis %s says that a script may not run a command', (_version, words) => {
  const error = Object.assign(new Error(`ERR ${words}`), { name: 'ReplyError' });
  expect(toRedisFailure(error)).toMatchObject({ reason: 'reply', code: 'NOPERM' });
});

it.each(['ERR DB index is out of range', 'ERR invalid DB index'])('says of %s what is missing', (words) => {
  const failure = toRedisFailure(Object.assign(new Error(words), { name: 'ReplyError' }));
  expect(failure.message).toBe('Redis answered with an error (no such database)');
  expect(failure.isAnswer).toBe(true);
});

it.each([
  ['LOADING', false],
  ['CLUSTERDOWN', false],
  ['MASTERDOWN', false],
  ['BUSY', false],
  ['READONLY', false],
  ['OOM', false],
  ['BUSYKEY', true],
  ['NOPERM', true],
  ['MOVED', true],
  ['ASK', true],
  ['TRYAGAIN', true],
  [null, true],
])('takes the reply %s for an answer that would be given again: %s', (code, isAnswer) => {
  expect(new RedisFailure('reply', code).isAnswer).toBe(isAnswer);
  expect(new RedisFailure('disconnected', code).isAnswer).toBe(false);
});

it('passes its own kind through', () => {
  const failure = new RedisFailure('busy');
  expect(toRedisFailure(failure)).toBe(failure);
});

it.each(['', 'redis://[bad', 'http://localhost', `${CANARY}@localhost:6379`, `mysql://u:${CANARY}@h`])(
  'refuses the URL "%s" without repeating it',
  (url) => {
    let thrown: unknown;
    try {
      connectRedis(url, { onError: () => {} });
    } catch (error) {
      thrown = error;
    }
    expect(String(thrown)).toContain('The URL of Redis must be');
    expect(JSON.stringify(thrown, Object.getOwnPropertyNames(thrown))).not.toContain(CANARY);
  },
);

it('connects to nothing until it is opened', async () => {
  const connection = connectRedis('redis://user:secret@localhost:1', {
    onError: () => expect.fail('connected'),
  });
  expect(connection.isReady).toBe(false);
  await connection.quit();
  expect(connection.client.status).toBe('end');
});
