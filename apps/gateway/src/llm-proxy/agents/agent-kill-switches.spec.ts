import { expect, it } from 'vitest';
import { agentScope, type DocumentWrite } from '#contracts';
import { DEFAULT_KILL_SWITCH } from '#domain/kill-switch';
import { FakeClock } from '#testing';
import { ADMIN, FakeAccessStore } from '../../auth/access.fixture.js';
import { SettingsAudit } from '../../auth/settings-audit.js';
import { AgentKillSwitches } from './agent-kill-switches.js';

const SCOPE = agentScope('default', 'crawler');

function switchesOn(stored: object[] = [], countMax = 4) {
  const clock = new FakeClock();
  const written: DocumentWrite[] = [];
  const disk = { isFull: false };
  const store = {
    documents: async () => stored as never,
    commitDocuments: async (write: DocumentWrite) => {
      if (disk.isFull) throw new Error('store_full');
      written.push(write);
    },
  };
  const audit = new SettingsAudit(new FakeAccessStore(), clock);
  return { switches: new AgentKillSwitches({ store, audit, clock }, countMax), written, disk, clock };
}

it('are those that were stored, filled up with what an earlier version did not know, and the usual ones of all others', async () => {
  const { switches } = switchesOn([{ tenant_id: 'default', id: 'crawler', body: { threshold: 21 } }]);
  await switches.load();
  expect(switches.of(SCOPE)).toEqual({ ...DEFAULT_KILL_SWITCH, threshold: 21 });
  expect(switches.of(agentScope('other', 'crawler'))).toBe(DEFAULT_KILL_SWITCH);
  expect([...switches.scopes()]).toEqual([SCOPE]);
});

it('change once that is stored, with its line in the audit', async () => {
  const { switches, written, disk, clock } = switchesOn();
  disk.isFull = true;
  await expect(switches.patch(SCOPE, { threshold: 21 }, ADMIN)).rejects.toThrow('store_full');
  expect(switches.of(SCOPE)).toBe(DEFAULT_KILL_SWITCH);
  disk.isFull = false;
  const after = await switches.patch(SCOPE, { threshold: 21 }, ADMIN);
  expect(switches.of(SCOPE)).toBe(after);
  expect(after).toMatchObject({ threshold: 21, updated_by: ADMIN.operator_id, updated_at_ms: clock.nowMs() });
  expect(written).toEqual([
    {
      saved: [
        expect.objectContaining({ tenant_id: 'default', kind: 'kill_switch', id: 'crawler', body: after }),
      ],
      audit: [
        expect.objectContaining({
          action: 'agent.kill_switch',
          detail: expect.objectContaining({ agent_id: 'crawler', threshold: 21 }),
        }),
      ],
    },
  ]);
  // What changes nothing is not written.
  expect(await switches.patch(SCOPE, { threshold: 21 }, ADMIN)).toBe(after);
  expect(written).toHaveLength(1);
});

it('have places, half of them for one tenant; who has one may change it', async () => {
  const { switches } = switchesOn();
  const patch = (agentId: string, threshold: number, tenantId = 'default') =>
    switches.patch(agentScope(tenantId, agentId), { threshold }, ADMIN);
  for (const agent of ['a', 'b']) for (const threshold of [21, 22, 23]) await patch(agent, threshold);
  await expect(patch('c', 21)).rejects.toMatchObject({ code: expect.any(String) });
  expect(await patch('c', 21, 'other')).toMatchObject({ threshold: 21 });
});
