import { expect, it } from 'vitest';
import { PromptHistoryFailure } from '#contracts/embedding';
import { readSearchError } from './search-failure.js';

const CANARY = 'canary-prompt-5d1e';
const reply = (message: string): Error => Object.assign(new Error(message), { name: 'ReplyError' });

it.each([
  [
    reply(`ERR unknown command 'FT.SEARCH', with args beginning with: '${CANARY}' `),
    'no_query_engine',
    'final',
  ],
  [reply('ERR unknown command `FT.CREATE`, with args beginning with: `i`, '), 'no_query_engine', 'final'],
  [reply('observatory:prompts:m:8: no such index'), 'failed', 'no_index'],
  [reply('Unknown Index name'), 'failed', 'no_index'],
  [reply('SEARCH_INDEX_NOT_FOUND Index not found: observatory:prompts:m:8'), 'failed', 'no_index'],
  [reply('Index already exists'), 'failed', 'index_exists'],
  [reply("READONLY You can't write against a read only replica."), 'unavailable', 'read_only'],
  [
    reply('ERR Error running script (call to f_1): @user_script:7: -READONLY You can not write'),
    'unavailable',
    'read_only',
  ],
  [reply('LOADING Redis is loading the dataset in memory'), 'unavailable', 'final'],
  [reply('MASTERDOWN Link with MASTER is down'), 'unavailable', 'final'],
  [reply('CLUSTERDOWN The cluster is down'), 'unavailable', 'final'],
  [reply('BUSY Redis is busy running a script.'), 'unavailable', 'final'],
  [reply('BUSYKEY Target key name already exists.'), 'failed', 'final'],
  [reply('TRYAGAIN Multiple keys request during rehashing of slot'), 'unavailable', 'final'],
  [reply('MOVED 3999 127.0.0.1:6381'), 'unavailable', 'final'],
  [reply('ASK 3999 127.0.0.1:6381'), 'unavailable', 'final'],
  [reply('Cannot create index on db != 0'), 'failed', 'final'],
  [reply(`OOM command not allowed ${CANARY}`), 'failed', 'final'],
  [reply(`NOPERM this user may not ${CANARY}`), 'failed', 'final'],
  [reply(`Error parsing vector similarity query: ${CANARY}`), 'failed', 'final'],
  [reply(`ERR unknown command 'EVALSHA' ${CANARY}`), 'failed', 'final'],
  [new Error(`connect ECONNREFUSED ${CANARY}`), 'unavailable', 'final'],
  [CANARY, 'unavailable', 'final'],
] as const)('makes of %s a public failure', (error, reason, kind) => {
  const read = readSearchError(error);
  expect(read).toMatchObject({ kind, failure: { name: 'PromptHistoryFailure', reason } });
  expect(`${read.failure.stack} ${JSON.stringify(read.failure)}`).not.toContain(CANARY);
  expect(read.failure.cause).toBeUndefined();
});

it('says what to do about a Redis without a query engine, and about a database that has none', () => {
  const textOf = (message: string): string => readSearchError(reply(message)).failure.message;
  expect(textOf("ERR unknown command 'FT.SEARCH'")).toMatch(/no query engine.*Redis 8.*Redis Stack.*memory/);
  // As RediSearch 1.2.2 and 2.2 answer an index with a vector.
  for (const message of ['Could not parse field spec', 'Invalid field type for field `vec`'])
    expect(textOf(message)).toMatch(/knows no vectors.*2\.4.*Redis 8.*Redis Stack.*memory/);
  expect(textOf('Cannot create index on db != 0')).toContain('database 0 only');
  for (const message of [
    'OOM command not allowed when used memory > maxmemory',
    'ERR Error running script (call to f_1): @user_script:7: -OOM command not allowed',
  ])
    expect(textOf(message)).toMatch(/no memory left.*maxmemory/);
  expect(textOf('Syntax error at offset 4')).toBe('Redis answered with an error');
});

it('passes its own kind through', () => {
  const failure = new PromptHistoryFailure('failed', 'as it is');
  expect(readSearchError(failure).failure).toBe(failure);
});
