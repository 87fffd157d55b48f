import { describe, expect, it } from 'vitest';
import { ADMIN, countingIds, startAccess } from './access.fixture.js';

const bearer = (token: string | null): string => `Bearer ${token}`;

describe('the first start', () => {
  it('makes one operator token and one agent key and tells them once', async () => {
    const { bootstrap, authenticator, store } = await startAccess();
    expect(bootstrap.operatorToken).toMatch(/^obs_op_[\w-]{32}$/);
    expect(bootstrap.agentKey).toMatch(/^obs_agent_[\w-]{32}$/);
    const outcome = authenticator.operator({ authorization: bearer(bootstrap.operatorToken), method: 'GET' });
    expect(outcome).toMatchObject({ principal: { role: 'admin', tenant_id: 'default', tenant_ids: ['*'] } });
    const stored = JSON.stringify([[...store.keyRows], [...store.operatorRows], store.audited]);
    expect(stored).not.toContain(bootstrap.operatorToken);
    expect(stored).not.toContain(bootstrap.agentKey);
    expect(store.audited.map(({ action, operator_id }) => `${action} ${operator_id}`)).toEqual([
      'operator.create system',
      'agent_key.create system',
    ]);
  });

  it('is not repeated: a later start makes and tells nothing, and the secrets go on', async () => {
    const first = await startAccess();
    const { bootstrap, authenticator } = await startAccess({ store: first.store });
    expect(bootstrap).toEqual({ operatorToken: null, agentKey: null });
    expect(authenticator.agent(bearer(first.bootstrap.agentKey))).not.toBeNull();
  });

  it('makes no agent key again for somebody who has revoked all of them', async () => {
    const first = await startAccess();
    const [key] = first.directory.agentKeys();
    await first.directory.revokeAgentKey(key?.key_id ?? '');
    expect((await startAccess({ store: first.store })).bootstrap.agentKey).toBeNull();
  });
});

describe('secrets of the environment', () => {
  const secrets = { operatorToken: 'fixed-operator-1', agentKey: 'fixed-agent-1' };

  it('are valid and nothing else is made', async () => {
    const { bootstrap, authenticator, directory } = await startAccess({ secrets });
    expect(bootstrap).toEqual(secrets);
    expect(authenticator.agent('Bearer fixed-agent-1')).toMatchObject({
      key_id: 'env',
      tenant_id: 'default',
    });
    expect(directory.operators()).toHaveLength(1);
    expect(directory.operators()[0]?.prefix).toBe('fixe');
  });

  it('replace the earlier value, whose logins end', async () => {
    const first = await startAccess({ secrets });
    const login = { cookie_hash: 'c', token_id: 'env', operator_id: 'ada', tenant_id: 'default' };
    await first.directory.putLogin({ ...login, expires_at_ms: first.clock.nowMs() + 1_000 });
    const changed = { operatorToken: 'fixed-operator-2', agentKey: 'fixed-agent-2' };
    const { authenticator, store } = await startAccess({ store: first.store, secrets: changed });
    expect(authenticator.agent('Bearer fixed-agent-1')).toBeNull();
    expect(authenticator.agent('Bearer fixed-agent-2')).not.toBeNull();
    expect(authenticator.operator({ authorization: 'Bearer fixed-operator-1', method: 'GET' }).ok).toBe(
      false,
    );
    expect(store.loginRows.size).toBe(0);
  });

  it('end when the variable is unset, and an administrator is made so that nobody is locked out', async () => {
    const first = await startAccess({ secrets });
    // Of one tenant: it could not bring back the others.
    await first.desk.createOperator(ADMIN, { name: 'of red', role: 'admin', tenant_ids: ['red'] });
    const { authenticator, bootstrap } = await startAccess({ store: first.store, ids: first.ids });
    expect(authenticator.agent('Bearer fixed-agent-1')).toBeNull();
    expect(authenticator.operator({ authorization: 'Bearer fixed-operator-1', method: 'GET' }).ok).toBe(
      false,
    );
    expect(authenticator.operator({ authorization: bearer(bootstrap.operatorToken), method: 'GET' }).ok).toBe(
      true,
    );
  });

  it('are valid again when the variable is set to what it was', async () => {
    const first = await startAccess({ secrets });
    await startAccess({ store: first.store, ids: first.ids });
    const { authenticator } = await startAccess({ store: first.store, ids: first.ids, secrets });
    expect(authenticator.operator({ authorization: 'Bearer fixed-operator-1', method: 'GET' }).ok).toBe(true);
    expect(authenticator.agent('Bearer fixed-agent-1')).not.toBeNull();
  });

  it('stay valid when the environment fixes the very token that an earlier start has made', async () => {
    const first = await startAccess();
    const fixed = { operatorToken: first.bootstrap.operatorToken };
    const second = await startAccess({ store: first.store, secrets: fixed });
    expect(
      second.authenticator.operator({ authorization: bearer(fixed.operatorToken), method: 'GET' }).ok,
    ).toBe(true);
  });
});

describe('a reset', () => {
  it('makes a new operator token and revokes the one made before', async () => {
    const ids = countingIds();
    const first = await startAccess({ ids });
    const { bootstrap, authenticator } = await startAccess({
      store: first.store,
      ids,
      isOperatorTokenReset: true,
    });
    expect(bootstrap.operatorToken).not.toBe(first.bootstrap.operatorToken);
    expect(authenticator.operator({ authorization: bearer(bootstrap.operatorToken), method: 'GET' }).ok).toBe(
      true,
    );
    const earlier = authenticator.operator({
      authorization: bearer(first.bootstrap.operatorToken),
      method: 'GET',
    });
    expect(earlier).toEqual({ ok: false, code: 'unauthorized' });
    expect(bootstrap.agentKey).toBeNull();
  });

  it('leaves alone the tokens that people made, and the one of the environment', async () => {
    const secrets = { operatorToken: 'fixed-operator-1' };
    const first = await startAccess({ secrets });
    const { secret } = await first.desk.createOperator(ADMIN, { name: 'bob', role: 'viewer' });
    const { store, ids } = first;
    const { authenticator } = await startAccess({ store, ids, secrets, isOperatorTokenReset: true });
    for (const token of [secret, secrets.operatorToken])
      expect(authenticator.operator({ authorization: bearer(token), method: 'GET' }).ok).toBe(true);
  });
});
