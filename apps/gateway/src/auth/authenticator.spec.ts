import { beforeEach, describe, expect, it } from 'vitest';
import type { AgentKeyRow, AgentPrincipal } from '#contracts';
import { LoginThrottle } from '#domain/auth';
import { type AccessFixture, ADMIN, startAccess } from './access.fixture.js';
import type { OperatorCall } from './authenticator.js';
import { LoginDesk } from './login-desk.js';

let access: AccessFixture;
let viewerToken: string;
let cookie: string;

beforeEach(async () => {
  access = await startAccess({ allowedOrigins: ['https://ops.example.org'] });
  const { desk, directory, clock, ids } = access;
  viewerToken = (
    await desk.createOperator(ADMIN, { name: 'looker', role: 'viewer', tenant_ids: ['red', 'blue'] })
  ).secret;
  const logins = new LoginDesk({ directory, clock, ids, throttle: new LoginThrottle({ clock }) });
  const token = access.bootstrap.operatorToken as string;
  cookie = `a=b; observatory_session=${(await logins.login({ token, operator_id: 'ada' }, '::1')).cookie}`;
});

const operator = (call: Partial<OperatorCall>) =>
  access.authenticator.operator({ method: 'GET', host: 'localhost:4000', ...call });

const bearer = (token: string | null): string => `Bearer ${token}`;

describe('agents', () => {
  it('knows an agent key from the Authorization header, whatever the case of the scheme', () => {
    const { agentKey } = access.bootstrap;
    const principal = access.authenticator.agent(`bearer ${agentKey}`);
    expect(principal).toMatchObject({ kind: 'agent', key_name: 'default', tenant_id: 'default' });
  });

  it('prefers X-Observatory-Key, because Authorization may carry the key of a vendor', () => {
    const { agentKey } = access.bootstrap;
    expect(access.authenticator.agent('Bearer sk-vendor', agentKey as string)).not.toBeNull();
    expect(access.authenticator.agent(bearer(agentKey), 'obs_agent_wrong')).toBeNull();
  });

  it('knows neither an unknown, an oversized, an empty nor a missing key', () => {
    for (const header of [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      'Basic abc',
      bearer('x'.repeat(10_000)),
      bearer('nope'),
    ]) {
      expect(access.authenticator.agent(header)).toBeNull();
    }
  });

  it('takes no operator token for an agent key', () => {
    expect(access.authenticator.agent(bearer(access.bootstrap.operatorToken))).toBeNull();
  });

  it('refuses a key from the moment it is revoked, and tells who holds its sockets', async () => {
    const { key, secret } = await access.desk.createAgentKey(ADMIN, { name: 'fleet' });
    const revoked: unknown[] = [];
    access.authenticator.onRevoked((revocation) => revoked.push(revocation));
    expect(access.authenticator.agent(bearer(secret))).not.toBeNull();
    const pending = access.desk.revokeAgentKey(ADMIN, key.key_id);
    expect(access.authenticator.agent(bearer(secret))).toBeNull();
    await pending;
    expect(revoked).toEqual([{ kind: 'agent_key', key_id: key.key_id }]);
  });

  it('of a key that was revoked or has another secret are not in force any more, whoever holds them', async () => {
    const { authenticator, desk, directory, store } = access;
    const { key, secret } = await desk.createAgentKey(ADMIN, { name: 'fleet', tenant_ids: ['red'] });
    const other = await desk.createAgentKey(ADMIN, { name: 'other' });
    const principal = authenticator.agent(bearer(secret)) as AgentPrincipal;
    const elsewhere = authenticator.agentFor(principal, 'red') as AgentPrincipal;
    expect(authenticator.isInForce(elsewhere)).toBe(true);
    const replaced = authenticator.agent(bearer(other.secret)) as AgentPrincipal;
    expect([principal, replaced].map((one) => authenticator.isInForce(one))).toEqual([true, true]);
    const toldInForce: boolean[] = [];
    authenticator.onRevoked(() => toldInForce.push(authenticator.isInForce(principal)));
    const pending = desk.revokeAgentKey(ADMIN, key.key_id);
    expect(authenticator.isInForce(principal)).toBe(false);
    expect(authenticator.isInForce(elsewhere)).toBe(false);
    expect(authenticator.agentFor(principal, 'red')).toBeNull();
    expect(toldInForce).toEqual([false]);
    await pending;
    const row = store.keyRows.get(other.key.key_id) as AgentKeyRow;
    authenticator.onRevoked(() => toldInForce.push(authenticator.isInForce(replaced)));
    await directory.putAgentKey({ ...row, secret_hash: 'of another secret' });
    expect(toldInForce).toEqual([false, false, false]);
  });

  it('saves the time of the last use at most once a minute per key', async () => {
    const { authenticator, bootstrap, clock, store } = access;
    const before = store.keySaveCount;
    for (let count = 0; count < 100; count += 1) authenticator.agent(bearer(bootstrap.agentKey));
    expect(store.keySaveCount).toBe(before + 1);
    clock.advance(60_000);
    authenticator.agent(bearer(bootstrap.agentKey));
    expect(store.keySaveCount).toBe(before + 2);
    expect([...store.keyRows.values()][0]?.last_used_at_ms).toBe(clock.nowMs());
  });

  it('saves it again after a minute where the clock was set back meanwhile', async () => {
    const { authenticator, bootstrap, clock, store } = access;
    authenticator.agent(bearer(bootstrap.agentKey));
    clock.setWallClock(-7_200_000);
    clock.advance(60_000);
    authenticator.agent(bearer(bootstrap.agentKey));
    expect([...store.keyRows.values()][0]?.last_used_at_ms).toBe(clock.nowMs());
  });
});

describe('operators with a token', () => {
  it('may read without naming themselves, under the name of the token', () => {
    expect(operator({ authorization: bearer(viewerToken) })).toMatchObject({
      ok: true,
      principal: { operator_id: 'looker', role: 'viewer', tenant_id: 'red' },
    });
  });

  it.each(['POST', 'PATCH', 'DELETE'])('must name themselves for %s', (method) => {
    const authorization = bearer(viewerToken);
    expect(operator({ authorization, method })).toEqual({ ok: false, code: 'missing_operator_id' });
    const named = operator({ authorization, method, operatorIdHeader: ' ada ' });
    expect(named).toMatchObject({ ok: true, principal: { operator_id: 'ada' } });
  });

  it.each(['', ' ', 'system', 'System', 'kill_switch', ' Kill_Switch', 'a\u0007b', 'x'.repeat(101)])(
    'may not call themselves %j',
    (operatorIdHeader) => {
      const outcome = operator({ authorization: bearer(viewerToken), method: 'POST', operatorIdHeader });
      expect(outcome).toEqual({ ok: false, code: 'missing_operator_id' });
    },
  );

  it('are spelled right when a client sends its name as UTF-8', () => {
    const operatorIdHeader = Buffer.from('Zoë', 'utf8').toString('latin1');
    const outcome = operator({ authorization: bearer(viewerToken), method: 'POST', operatorIdHeader });
    expect(outcome).toMatchObject({ principal: { operator_id: 'Zoë' } });
  });

  it('act for the tenant of X-Tenant-Id if they may, and for no other', () => {
    const authorization = bearer(viewerToken);
    expect(operator({ authorization, tenantHeader: 'blue' })).toMatchObject({
      principal: { tenant_id: 'blue' },
    });
    expect(operator({ authorization, tenantHeader: 'green' })).toMatchObject({
      ok: false,
      code: 'forbidden',
    });
    const all = bearer(access.bootstrap.operatorToken);
    expect(operator({ authorization: all, tenantHeader: 'green' })).toMatchObject({
      principal: { tenant_id: 'green' },
    });
    expect(operator({ authorization: all, tenantHeader: '../*' })).toMatchObject({
      ok: false,
      code: 'forbidden',
    });
    expect(operator({ authorization: all, tenantHeader: '*' })).toMatchObject({
      ok: false,
      code: 'forbidden',
    });
  });

  it('are unauthorized with a wrong token even when a valid cookie comes along', () => {
    expect(operator({ authorization: bearer('obs_op_wrong'), cookie })).toEqual({
      ok: false,
      code: 'unauthorized',
    });
    expect(operator({ authorization: 'Basic xyz', cookie })).toEqual({ ok: false, code: 'unauthorized' });
  });

  it('are told when they send an agent key', () => {
    expect(operator({ authorization: bearer(access.bootstrap.agentKey) })).toMatchObject({
      ok: false,
      code: 'forbidden',
    });
  });
});

describe('operators with a login', () => {
  it('are known by the cookie, under the name given at the login', () => {
    expect(operator({ cookie })).toMatchObject({
      ok: true,
      principal: { operator_id: 'ada', role: 'admin' },
    });
  });

  it('may change something from an own page only', () => {
    const from = (source: Partial<OperatorCall>) => operator({ cookie, method: 'POST', ...source });
    expect(from({})).toEqual({ ok: false, code: 'origin_refused' });
    expect(from({ origin: 'http://localhost:3000' })).toEqual({ ok: false, code: 'origin_refused' });
    expect(from({ origin: 'null' })).toEqual({ ok: false, code: 'origin_refused' });
    expect(from({ secFetchSite: 'same-site' })).toEqual({ ok: false, code: 'origin_refused' });
    expect(from({ origin: 'http://localhost:4000' })).toMatchObject({ ok: true });
    expect(from({ origin: 'https://ops.example.org' })).toMatchObject({ ok: true });
    expect(from({ secFetchSite: 'same-origin' })).toMatchObject({ ok: true });
  });

  it('may open a socket from an own page only, while a token may from anywhere', () => {
    const { authenticator, bootstrap } = access;
    const host = 'localhost:4000';
    expect(authenticator.operatorSocket({ cookie, host })).toEqual({ ok: false, code: 'origin_refused' });
    expect(authenticator.operatorSocket({ cookie, host, origin: 'http://evil.example' })).toMatchObject({
      ok: false,
    });
    expect(authenticator.operatorSocket({ cookie, host, origin: 'http://localhost:4000' })).toMatchObject({
      ok: true,
    });
    expect(authenticator.operatorSocket({ token: bootstrap.operatorToken as string, host })).toMatchObject({
      ok: true,
    });
  });

  it('end after 30 days', () => {
    access.clock.advance(30 * 24 * 3_600_000);
    expect(operator({ cookie })).toEqual({ ok: false, code: 'unauthorized' });
  });

  it('end with their token, and what hangs on it is told', async () => {
    const { authenticator, desk, directory, bootstrap, store } = access;
    const found = operator({ cookie });
    if (!found.ok) throw new Error('expected a login');
    expect(found.principal.isInForce()).toBe(true);
    const revoked: unknown[] = [];
    authenticator.onRevoked((revocation) => revoked.push(revocation));
    await desk.createOperator(ADMIN, { name: 'second', role: 'admin', tenant_ids: ['*'] });
    await desk.revokeOperator(ADMIN, found.credential.token_id);
    expect(operator({ cookie })).toEqual({ ok: false, code: 'unauthorized' });
    expect(operator({ authorization: bearer(bootstrap.operatorToken) })).toEqual({
      ok: false,
      code: 'unauthorized',
    });
    expect(found.principal.isInForce()).toBe(false);
    expect(revoked).toEqual([{ kind: 'operator', token_id: found.credential.token_id }]);
    expect(store.loginRows.size).toBe(0);
    expect(directory.operator(found.credential.token_id)?.revoked_at_ms).toBe(access.clock.nowMs());
  });

  it('that a crash left behind their revoked token end at the next start, and no others', async () => {
    const { clock, directory, ids, store } = access;
    const logins = new LoginDesk({ directory, clock, ids, throttle: new LoginThrottle({ clock }) });
    const looker = await logins.login({ token: viewerToken, operator_id: 'bob' }, '::1');
    const leftBehind = [...store.loginRows.values()].find((row) => row.operator_id === 'bob');
    const token = store.operatorRows.get(leftBehind?.token_id as string);
    store.operatorRows.set(token?.token_id as string, {
      ...(token as NonNullable<typeof token>),
      revoked_at_ms: 1,
    });
    access = await startAccess({ store, clock, ids });
    expect(operator({ cookie: `observatory_session=${looker.cookie}` })).toMatchObject({ ok: false });
    expect(operator({ cookie })).toMatchObject({ ok: true });
    expect([...store.loginRows.values()].map((row) => row.operator_id)).toEqual(['ada']);
  });
});
