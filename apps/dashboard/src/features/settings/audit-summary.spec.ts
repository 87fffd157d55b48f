import { describe, expect, it } from 'vitest';
import { auditSummary } from './audit-summary';

describe("an audit entry's summary", () => {
  it('names what was changed, created or revoked', () => {
    expect(
      auditSummary({ action: 'config.update', detail: { before: {}, after: { retention_days: 7 } } }),
    ).toBe('retention_days = 7');
    expect(auditSummary({ action: 'operator.create', detail: { name: 'ada', role: 'admin' } })).toBe(
      'ada, admin',
    );
    expect(auditSummary({ action: 'agent_key.revoke', detail: { name: 'fleet' } })).toBe('fleet');
    expect(
      auditSummary({ action: 'agent.deactivate', detail: { agent_id: 'order-bot', incident_id: 'i' } }),
    ).toBe('order-bot: incident_id = "i"');
    expect(
      auditSummary({ action: 'agent.policy', detail: { agent_id: 'order-bot', requests_per_minute: 5 } }),
    ).toBe('order-bot: requests_per_minute = 5');
    expect(auditSummary({ action: 'agent.reactivate', detail: { agent_id: 'order-bot' } })).toBe('order-bot');
    expect(auditSummary({ action: 'hitl.expire', detail: {} })).toBe('');
  });
});
