import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type AgentPrincipal, ObservatoryError, type OperatorPrincipal } from '#contracts';
import { hashSecret } from '#domain/auth';
import { STORED_WITHIN_MS } from '../stored-in-time.js';
import { type AccessFixture, ADMIN, startAccess } from './access.fixture.js';
import { CREDENTIAL_LIMITS } from './credential-directory.js';

const RED_ADMIN: OperatorPrincipal = { ...ADMIN, operator_id: 'rose', tenant_id: 'red', tenant_ids: ['red'] };

let access: AccessFixture;
beforeEach(async () => {
  access = await startAccess();
});

describe('agent keys', () => {
  it('are listed per tenant and never with a secret or its hash', async () => {
    const { secret } = await access.desk.createAgentKey(RED_ADMIN, { name: 'red fleet' });
    const listed = access.desk.agentKeys(RED_ADMIN);
    expect(listed.map((key) => key.name)).toEqual(['red fleet']);
    const ofDefault = access.desk.agentKeys(ADMIN);
    expect(ofDefault.map((key) => key.name)).toEqual(['default']);
    expect(listed[0]?.prefix).toBe(secret.slice(0, 14));
    expect(JSON.stringify([listed, access.store.audited])).not.toContain(secret);
    expect(listed[0]).not.toHaveProperty('secret_hash');
  });

  it('are created for another tenant by an operator of all tenants only', async () => {
    await expect(
      access.desk.createAgentKey(RED_ADMIN, { name: 'x', tenant_id: 'blue' }),
    ).rejects.toMatchObject({
      code: 'forbidden',
    });
    const { key } = await access.desk.createAgentKey(ADMIN, { name: 'x', tenant_id: 'blue' });
    expect(key.tenant_id).toBe('blue');
    expect(access.desk.tenants(ADMIN)).toEqual(['blue', 'default']);
    expect(access.desk.tenants(RED_ADMIN)).toEqual(['red']);
  });

  it('of another tenant cannot even be seen to exist', async () => {
    const { key } = await access.desk.createAgentKey(ADMIN, { name: 'x' });
    await expect(access.desk.revokeAgentKey(RED_ADMIN, key.key_id)).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('may act for several tenants where their creator may, and for no others', async () => {
    const { key, secret } = await access.desk.createAgentKey(ADMIN, {
      name: 'fleet',
      tenant_ids: ['red', 'blue'],
    });
    expect(key).toMatchObject({ tenant_id: 'default', tenant_ids: ['default', 'red', 'blue'] });
    expect(access.desk.tenants(ADMIN)).toEqual(['blue', 'default', 'red']);
    const again = await startAccess({ store: access.store, ids: access.ids });
    for (const { authenticator } of [access, again]) {
      const home = authenticator.agent(`Bearer ${secret}`) as AgentPrincipal;
      expect(home.tenant_id).toBe('default');
      expect(authenticator.agentFor(home, 'red')).toMatchObject({ tenant_id: 'red', key_id: key.key_id });
      expect(authenticator.agentFor(home, 'default')).toBe(home);
      for (const foreign of ['green', '*', '', 'constructor'])
        expect(authenticator.agentFor(home, foreign)).toBeNull();
    }
    const created = access.store.audited.find(({ detail }) => detail.key_id === key.key_id);
    expect(created?.detail.tenant_ids).toEqual(['default', 'red', 'blue']);
  });

  it('that reach beyond the tenants of an operator are not its to make, see or revoke', async () => {
    const wide = { name: 'x', tenant_ids: ['red', 'blue'] };
    await expect(access.desk.createAgentKey(RED_ADMIN, wide)).rejects.toMatchObject({ code: 'forbidden' });
    const { key } = await access.desk.createAgentKey(ADMIN, { ...wide, tenant_id: 'red' });
    expect(access.desk.agentKeys(RED_ADMIN)).toEqual([]);
    await expect(access.desk.revokeAgentKey(RED_ADMIN, key.key_id)).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('leave a trace in the audit when they come and go', async () => {
    const { key } = await access.desk.createAgentKey(ADMIN, { name: 'fleet' });
    await access.desk.revokeAgentKey(ADMIN, key.key_id);
    const actions = access.store.audited
      .slice(-2)
      .map(({ action, operator_id, detail }) => [action, operator_id, detail.key_id]);
    expect(actions).toEqual([
      ['agent_key.create', 'ada', key.key_id],
      ['agent_key.revoke', 'ada', key.key_id],
    ]);
  });
});

describe('operators', () => {
  it('are given no tenant that their creator lacks', async () => {
    const body = { name: 'x', role: 'viewer' as const };
    for (const tenant_ids of [['blue'], ['*'], ['red', 'blue']]) {
      await expect(access.desk.createOperator(RED_ADMIN, { ...body, tenant_ids })).rejects.toMatchObject({
        code: 'forbidden',
      });
    }
    const { operator } = await access.desk.createOperator(RED_ADMIN, body);
    expect(operator.tenant_ids).toEqual(['red']);
    expect(access.desk.operators(RED_ADMIN).map((one) => one.token_id)).toEqual([operator.token_id]);
  });

  it('of more tenants than ones own cannot be revoked', async () => {
    const [first] = access.directory.operators();
    await expect(access.desk.revokeOperator(RED_ADMIN, first?.token_id ?? '')).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('keep their last administrator', async () => {
    const [first] = access.directory.operators();
    await expect(access.desk.revokeOperator(ADMIN, first?.token_id ?? '')).rejects.toMatchObject({
      code: 'forbidden',
    });
    // Nobody of these could make another administrator of all tenants.
    await access.desk.createOperator(ADMIN, { name: 'of red', role: 'admin', tenant_ids: ['red'] });
    await access.desk.createOperator(ADMIN, { name: 'looker', role: 'viewer', tenant_ids: ['*'] });
    await expect(access.desk.revokeOperator(ADMIN, first?.token_id ?? '')).rejects.toMatchObject({
      code: 'forbidden',
    });
    const { operator } = await access.desk.createOperator(ADMIN, {
      name: 'second',
      role: 'admin',
      tenant_ids: ['*'],
    });
    await access.desk.revokeOperator(ADMIN, first?.token_id ?? '');
    await expect(access.desk.revokeOperator(ADMIN, operator.token_id)).rejects.toMatchObject({
      code: 'forbidden',
    });
  });
});

describe('keys and tokens', () => {
  it('makes nothing more for a token that was revoked while its creations waited for their turn', async () => {
    const { desk, directory, store } = access;
    const { operator } = await desk.createOperator(ADMIN, { name: 'eve', role: 'admin', tenant_ids: ['*'] });
    const isInForce = () => directory.isLive({ token_id: operator.token_id, login_id: null });
    const eve = { ...ADMIN, operator_id: 'eve', isInForce };
    const keys = [1, 2].map(() => desk.createAgentKey(eve, { name: 'x' }));
    const token = { name: 'x', role: 'admin' as const };
    const tokens = [1, 2].map(() => desk.createOperator(eve, token));
    await desk.revokeOperator(ADMIN, operator.token_id);
    for (const [first, second] of [keys, tokens]) {
      await expect(first).resolves.toBeDefined();
      await expect(second).rejects.toMatchObject({ code: 'unauthorized' });
    }
    expect(store.audited.at(-1)?.action).toBe('operator.revoke');
  });

  it('are no more than there may be, however many are asked for at once', async () => {
    const { directory, desk } = access;
    const [key] = directory.agentKeys();
    const [operator] = directory.operators();
    if (key === undefined || operator === undefined) throw new Error('expected those of the first start');
    for (let at = 2; at < CREDENTIAL_LIMITS.agentKeysMax; at += 1)
      await directory.putAgentKey({ ...key, key_id: `key_${at}`, secret_hash: `${at}` });
    for (let at = 2; at < CREDENTIAL_LIMITS.operatorsMax; at += 1)
      await directory.putOperator({ ...operator, token_id: `op_${at}`, secret_hash: `${at}` });
    const refused = { status: 'rejected', reason: { code: 'forbidden' } };
    const keys = [1, 2].map(() => desk.createAgentKey(ADMIN, { name: 'x' }));
    expect(await Promise.allSettled(keys)).toMatchObject([{ status: 'fulfilled' }, refused]);
    const tokens = [1, 2].map(() => desk.createOperator(ADMIN, { name: 'x', role: 'viewer' }));
    expect(await Promise.allSettled(tokens)).toMatchObject([{ status: 'fulfilled' }, refused]);
  });

  it('of one tenant are half of that at most: the others have their places, and who may act for all has the rest', async () => {
    const { directory, desk } = access;
    const [key] = directory.agentKeys();
    const [operator] = directory.operators();
    if (key === undefined || operator === undefined) throw new Error('expected those of the first start');
    const red = RED_ADMIN;
    const blue = { ...ADMIN, tenant_id: 'blue', tenant_ids: ['blue'] };
    for (let at = 1; at < CREDENTIAL_LIMITS.agentKeysMax / 2; at += 1)
      await directory.putAgentKey({ ...key, tenant_id: 'red', key_id: `key_${at}`, secret_hash: `${at}` });
    for (let at = 1; at < CREDENTIAL_LIMITS.operatorsMax / 2; at += 1)
      await directory.putOperator({
        ...operator,
        tenant_ids: ['red'],
        token_id: `op_${at}`,
        secret_hash: `${at}`,
      });
    const token = { name: 'x', role: 'viewer' } as const;
    const { key: last } = await desk.createAgentKey(red, { name: 'x' });
    const { operator: lastToken } = await desk.createOperator(red, token);
    const refused = { code: 'forbidden', message: expect.stringContaining('revoke some') };
    await expect(desk.createAgentKey(red, { name: 'x' })).rejects.toMatchObject(refused);
    await expect(desk.createOperator(red, token)).rejects.toMatchObject(refused);
    for (const other of [blue, ADMIN]) {
      await desk.createAgentKey(other, { name: 'x' });
      await desk.createOperator(other, token);
    }
    await desk.revokeAgentKey(red, last.key_id);
    await desk.revokeOperator(red, lastToken.token_id);
    await desk.createAgentKey(red, { name: 'x' });
    await desk.createOperator(red, token);
  });
});

describe('what was revoked', () => {
  it.each([
    ['refuses', () => Promise.reject(new ObservatoryError('store_full'))],
    ['hangs', () => new Promise(() => {})],
  ])('is told as in force, though not stored, by a disk that %s', async (_, save) => {
    const { desk, store, directory, clock } = access;
    const { key, secret } = await desk.createAgentKey(ADMIN, { name: 'x' });
    const { operator } = await desk.createOperator(ADMIN, { name: 'x', role: 'viewer' });
    Object.assign(store, { saveAgentKey: save, saveOperator: save });
    const revoked = Promise.allSettled([
      desk.revokeAgentKey(ADMIN, key.key_id),
      desk.revokeOperator(ADMIN, operator.token_id),
    ]);
    await clock.pass(STORED_WITHIN_MS);
    const reason = {
      code: expect.stringMatching(/^store_/),
      detail: expect.stringMatching(/^The revocation is in force, but not stored/),
    };
    expect(await revoked).toMatchObject([{ reason }, { reason }]);
    expect(directory.hasAgentKey(hashSecret(secret))).toBe(false);
  });

  it('stays listed up to a bound, beyond which the tenant that has most loses what was revoked first', async () => {
    const { directory, desk, store } = access;
    const [key] = directory.agentKeys();
    const [operator] = directory.operators();
    if (key === undefined || operator === undefined) throw new Error('expected those of the first start');
    const { revokedAgentKeysMax: keysMax, revokedOperatorsMax: operatorsMax } = CREDENTIAL_LIMITS;
    const { key: last } = await desk.createAgentKey(ADMIN, { name: 'last' });
    const { operator: lastToken } = await desk.createOperator(ADMIN, { name: 'last', role: 'viewer' });
    const revoked = (at: number) => ({ secret_hash: `${at}`, revoked_at_ms: at });
    await directory.putAgentKey({ ...key, tenant_id: 'red', key_id: 'of_red', ...revoked(1) });
    for (let at = 2; at <= keysMax; at += 1)
      await directory.putAgentKey({ ...key, key_id: `key_${at}`, ...revoked(at) });
    await directory.putOperator({ ...operator, tenant_ids: ['red'], token_id: 'of_red', ...revoked(0) });
    for (let at = 1; at < operatorsMax; at += 1)
      await directory.putOperator({ ...operator, token_id: `op_${at}`, ...revoked(at) });
    await desk.revokeAgentKey(ADMIN, last.key_id);
    await desk.revokeOperator(ADMIN, lastToken.token_id);
    const isThere = (id: string) => [directory.agentKey(id) !== undefined, store.keyRows.has(id)];
    expect(isThere('key_2')).toEqual([false, false]);
    for (const id of ['of_red', 'key_3', last.key_id, key.key_id]) expect(isThere(id)).toEqual([true, true]);
    expect(directory.operators()).toHaveLength(operatorsMax + 1);
    expect([directory.operator('op_1'), store.operatorRows.has('op_1')]).toEqual([undefined, false]);
    expect(directory.operator('of_red')).toBeDefined();
  });

  it('is in the audit once, however often it is revoked, and at once', async () => {
    const { desk, store, clock, directory } = access;
    const { key } = await desk.createAgentKey(ADMIN, { name: 'leaked' });
    const { operator } = await desk.createOperator(ADMIN, { name: 'bob', role: 'viewer' });
    const revoke = () =>
      Promise.all([desk.revokeAgentKey(ADMIN, key.key_id), desk.revokeOperator(ADMIN, operator.token_id)]);
    const revoked: string[] = [];
    directory.onRevoked(({ kind }) => revoked.push(kind));
    await Promise.all([revoke(), revoke()]);
    const { keySaveCount } = store;
    await clock.pass(1_000);
    await revoke();
    const entries = store.audited.filter(({ action }) => action.endsWith('.revoke'));
    expect(entries.map(({ action }) => action)).toEqual(['agent_key.revoke', 'operator.revoke']);
    expect(store.keySaveCount).toBe(keySaveCount);
    expect(revoked).toEqual(['agent_key', 'operator']);
  });
});

describe('a revocation that the store refuses', () => {
  const refusal = new ObservatoryError('store_full');
  const IN_FORCE = { code: 'store_full', detail: expect.stringContaining('is in force') };
  const OF_ADA = { tenant_id: 'default', operator_id: 'ada' };

  it('of a key holds at once, is written as soon as it is taken, and holds after a restart', async () => {
    const { desk, store, clock, authenticator } = await startAccess();
    const { key, secret } = await desk.createAgentKey(ADMIN, { name: 'leaked' });
    const save = vi.spyOn(store, 'saveAgentKey').mockRejectedValue(refusal);
    await expect(desk.revokeAgentKey(ADMIN, key.key_id)).rejects.toMatchObject(IN_FORCE);
    expect(authenticator.agent(`Bearer ${secret}`)).toBeNull();
    await clock.pass(5_000);
    save.mockRestore();
    const revokedAtMs = clock.nowMs() - 5_000;
    await clock.pass(5_000);
    const { authenticator: restarted } = await startAccess({ store });
    expect(restarted.agent(`Bearer ${secret}`)).toBeNull();
    const entries = store.audited.filter(({ action }) => action === 'agent_key.revoke');
    expect(entries).toMatchObject([{ operator_id: 'ada', at_ms: revokedAtMs, detail: { name: 'leaked' } }]);
  });

  it('of a token, too', async () => {
    const { desk, directory, store, clock } = await startAccess();
    const { operator } = await desk.createOperator(ADMIN, { name: 'ada', role: 'viewer' });
    vi.spyOn(store, 'saveOperator').mockRejectedValueOnce(refusal);
    await expect(desk.revokeOperator(ADMIN, operator.token_id)).rejects.toMatchObject(IN_FORCE);
    await clock.pass(5_000);
    expect((await startAccess({ store })).directory.operator(operator.token_id)).toMatchObject({
      revoked_at_ms: directory.operator(operator.token_id)?.revoked_at_ms,
    });
    expect(store.audited.filter(({ action }) => action === 'operator.revoke')).toHaveLength(1);
  });

  it('is written once, with its entry in the audit, by who repeats it', async () => {
    const { desk, store, clock } = await startAccess();
    const { key } = await desk.createAgentKey(ADMIN, { name: 'leaked' });
    const save = vi.spyOn(store, 'saveAgentKey').mockRejectedValue(refusal);
    const attempts = [1, 2].map(() => desk.revokeAgentKey(ADMIN, key.key_id));
    for (const attempt of attempts) await expect(attempt).rejects.toMatchObject(IN_FORCE);
    save.mockRestore();
    await desk.revokeAgentKey(ADMIN, key.key_id);
    await clock.pass(5_000);
    expect(store.keyRows.get(key.key_id)?.revoked_at_ms).not.toBeNull();
    expect(store.audited.filter(({ action }) => action === 'agent_key.revoke')).toHaveLength(1);
  });

  it('is one write with its entry in the audit, as is what is handed out', async () => {
    const { desk, store } = await startAccess();
    const entryCount = store.audited.length;
    vi.spyOn(store, 'commitControl').mockRejectedValue(refusal);
    const { key } = await desk.createAgentKey(ADMIN, { name: 'ci' });
    const { operator } = await desk.createOperator(ADMIN, { name: 'bob', role: 'viewer' });
    await desk.revokeAgentKey(ADMIN, key.key_id);
    await desk.revokeOperator(ADMIN, operator.token_id);
    const actions = store.audited.slice(entryCount).map(({ action }) => action);
    expect(actions).toEqual(['agent_key.create', 'operator.create', 'agent_key.revoke', 'operator.revoke']);
  });

  it('and a login that ended while its end could not be written', async () => {
    const { directory, store, clock } = await startAccess();
    const times = { created_at_ms: 1, expires_at_ms: clock.nowMs() + 60_000 };
    await directory.putLogin({ cookie_hash: 'c-1', token_id: 't-1', ...OF_ADA, ...times });
    vi.spyOn(store, 'deleteLogin').mockRejectedValueOnce(refusal);
    await expect(directory.endLogin('c-1')).rejects.toBe(refusal);
    await clock.pass(5_000);
    expect(store.loginRows.size).toBe(0);
  });

  it('keeps no gateway from its start: a login that has expired meanwhile is deleted later', async () => {
    const { directory, store, clock } = await startAccess();
    const times = { created_at_ms: 1, expires_at_ms: clock.nowMs() };
    await directory.putLogin({ cookie_hash: 'c-1', token_id: 't-1', ...OF_ADA, ...times });
    vi.spyOn(store, 'deleteLogin').mockRejectedValueOnce(refusal);
    await startAccess({ store, clock });
    await clock.pass(5_000);
    expect(store.loginRows.size).toBe(0);
  });
});
