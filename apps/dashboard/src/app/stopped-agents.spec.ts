import { describe, expect, it } from 'vitest';
import { stoppedAgentCount } from './stopped-agents';

const incident = (agent_id: string, reactivated_at_ms: number | null) => ({ agent_id, reactivated_at_ms });

describe('stoppedAgentCount', () => {
  it('counts agents, and believes the latest incident of each', () => {
    expect(
      stoppedAgentCount([
        incident('a', 20),
        incident('b', null),
        incident('b', null),
        incident('a', null),
        incident('c', null),
      ]),
    ).toBe(2);
  });
});
