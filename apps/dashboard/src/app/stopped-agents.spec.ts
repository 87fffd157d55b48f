import { describe, expect, it } from 'vitest';
import { stoppedAgentCount } from './stopped-agents';

describe('stoppedAgentCount', () => {
  it('counts agents with an open incident', () => {
    const agents = ['incident-1', null, 'incident-2'].map((open_incident_id) => ({ open_incident_id }));
    expect(stoppedAgentCount(agents)).toBe(2);
  });
});
