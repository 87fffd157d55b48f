import { beforeEach, describe, expect, it } from 'vitest';
import { LOGIN_LIMITS, LoginThrottle } from '#domain/auth';
import { STORED_WITHIN_MS } from '../stored-in-time.js';
import { type AccessFixture, ADMIN, startAccess } from './access.fixture.js';
import { LoginDesk, loginCookie } from './login-desk.js';

let access: AccessFixture;
let logins: LoginDesk;
let token: string;
let unsavedCount: number;
const attempts: string[] = [];

beforeEach(async () => {
  access = await startAccess();
  const { directory, clock, ids } = access;
  attempts.length = 0;
  const onAttempt = (outcome: string) => void attempts.push(outcome);
  unsavedCount = 0;
  const onLogoutUnsaved = () => {
    unsavedCount += 1;
  };
  const throttle = new LoginThrottle({ clock });
  logins = new LoginDesk({ directory, clock, ids, throttle, onAttempt, onLogoutUnsaved });
  token = access.bootstrap.operatorToken as string;
});

const attempt = (wrong: string, address = '10.0.0.1') =>
  logins.login({ token: wrong, operator_id: 'eve' }, address);

describe('a login', () => {
  it('answers who one is and keeps of the cookie a hash only', async () => {
    const { cookie, me } = await logins.login({ token, operator_id: ' ada ' }, '::1');
    expect(me).toMatchObject({ operator_id: 'ada', role: 'admin', tenant_id: 'default', tenant_ids: ['*'] });
    expect(me.permissions).toContain('manage_access');
    expect(cookie.length).toBeGreaterThanOrEqual(43);
    expect(JSON.stringify([...access.store.loginRows])).not.toContain(cookie);
  });

  it('refuses every wrong token with the same words', async () => {
    const answers = await Promise.all(
      ['x', 'obs_op_wrong', access.bootstrap.agentKey as string].map((wrong) =>
        attempt(wrong).catch((error) => error.toAnswer()),
      ),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ reason: 'unauthorized' });
  });

  it.each(['SYSTEM', 'kill_switch'])(
    'does not let somebody pose as the gateway itself: %s',
    async (operator_id) => {
      const posing = logins.login({ token, operator_id }, '::1');
      await expect(posing).rejects.toMatchObject({
        code: 'invalid_fields',
        extra: { fields: ['operator_id'] },
      });
    },
  );

  it('throttles an address that keeps guessing, right token or not, for at most a minute', async () => {
    for (let count = 0; count < LOGIN_LIMITS.failuresPerAddressMax; count += 1) {
      await expect(attempt('wrong')).rejects.toMatchObject({ code: 'unauthorized' });
    }
    await expect(attempt(token)).rejects.toMatchObject({
      code: 'rate_limited',
      extra: { retryAfterSeconds: 60 },
    });
    expect(attempts.at(-1)).toBe('throttled');
    await expect(attempt(token, '10.0.0.2')).resolves.toBeDefined();
    access.clock.advance(LOGIN_LIMITS.windowMs);
    await expect(attempt(token)).resolves.toBeDefined();
  });

  it('under a flood from many addresses leaves each one attempt, so that operators are not locked out', async () => {
    for (let count = 0; count < LOGIN_LIMITS.failuresOverallMax; count += 1) {
      await expect(attempt('wrong', `10.1.0.${count}`)).rejects.toMatchObject({ code: 'unauthorized' });
    }
    await expect(attempt('wrong', '10.1.0.1')).rejects.toMatchObject({ code: 'rate_limited' });
    await expect(attempt(token, '10.2.0.1')).resolves.toBeDefined();
  });

  it('sets a cookie that scripts, other sites and, over https, plain connections never see', () => {
    expect(loginCookie('v', true)).toBe(
      'observatory_session=v; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000; Secure',
    );
    expect(loginCookie(null, false)).toBe(
      'observatory_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
    );
  });
});

describe('a logout', () => {
  it('ends the login at once and tells its sockets; without a login it does nothing', async () => {
    const { cookie } = await logins.login({ token, operator_id: 'ada' }, '::1');
    const revoked: unknown[] = [];
    access.directory.onRevoked((revocation) => revoked.push(revocation.kind));
    await logins.logout(cookie);
    await logins.logout(cookie);
    await logins.logout(undefined);
    expect(revoked).toEqual(['login']);
    expect(access.store.loginRows.size).toBe(0);
  });
});

it.each([
  ['refuses', () => Promise.reject(new Error('full'))],
  ['hangs', () => new Promise(() => {})],
])('a logout is answered, and the login over, on a disk that %s', async (_, deleteLogin) => {
  const { cookie } = await logins.login({ token, operator_id: 'ada' }, '::1');
  Object.assign(access.store, { deleteLogin });
  const loggedOut = logins.logout(cookie);
  const call = { cookie: `observatory_session=${cookie}`, method: 'GET' };
  expect(access.authenticator.operator(call)).toMatchObject({ ok: false });
  await access.clock.pass(STORED_WITHIN_MS);
  await loggedOut;
  expect(unsavedCount).toBe(1);
});

describe('switching the tenant', () => {
  it('brings no login back that ends meanwhile', async () => {
    const { cookie } = await logins.login({ token, operator_id: 'ada' }, '::1');
    const call = { cookie: `observatory_session=${cookie}`, method: 'GET' };
    const found = access.authenticator.operator(call);
    if (!found.ok) throw new Error('expected a login');
    const switching = logins.switchTenant(found.principal, found.credential, 'blue');
    await Promise.all([logins.logout(cookie), switching.catch(() => {})]);
    expect(access.authenticator.operator(call)).toMatchObject({ ok: false, code: 'unauthorized' });
    await expect(switching).rejects.toMatchObject({ code: 'unauthorized' });
    expect(access.store.loginRows.size).toBe(0);
  });

  it('stays with the login and is refused beyond the tenants of the operator', async () => {
    const { secret } = await access.desk.createOperator(ADMIN, {
      name: 'x',
      role: 'viewer',
      tenant_ids: ['red', 'blue'],
    });
    const { cookie } = await logins.login({ token: secret, operator_id: 'bo' }, '::1');
    const call = { cookie: `observatory_session=${cookie}`, method: 'GET' };
    const found = access.authenticator.operator(call);
    if (!found.ok) throw new Error('expected a login');
    expect(found.principal.tenant_id).toBe('red');
    const switched = await logins.switchTenant(found.principal, found.credential, 'blue');
    expect(switched.tenant_id).toBe('blue');
    expect(access.authenticator.operator(call)).toMatchObject({ principal: { tenant_id: 'blue' } });
    await expect(logins.switchTenant(found.principal, found.credential, 'green')).rejects.toMatchObject({
      code: 'forbidden',
    });
    const withoutLogin = { token_id: found.credential.token_id, login_id: null };
    await expect(logins.switchTenant(found.principal, withoutLogin, 'red')).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });
});
