import { expect, it } from 'vitest';
import { agentScope } from '#contracts';
import { turn } from '#testing';
import { RedisAgentHomes } from './redis-agent-homes.js';

it('asks about many agents a hundred at a time, so that the limiter, on the same connection, need not wait for all', async () => {
  const asked: string[] = [];
  let waitingCount = 0;
  let waitingCountMax = 0;
  const client = {
    defineCommand: () => {},
    observatoryClaimAgent: async (_keyCount: 1, key: string) => {
      waitingCount += 1;
      waitingCountMax = Math.max(waitingCountMax, waitingCount);
      asked.push(key);
      await turn();
      waitingCount -= 1;
      return key.includes('bot-7') ? 1 : 0;
    },
  };
  const homes = new RedisAgentHomes({ client: client as never, gatewayId: 'here' });
  const scopes = Array.from({ length: 250 }, (_, at) => agentScope('t', `bot-${at}`));
  const hasMoved = await homes.claim(scopes);
  expect(hasMoved).toEqual(scopes.map((scope) => scope.includes('bot-7')));
  expect(asked).toHaveLength(250);
  expect(waitingCountMax).toBe(100);
});
