import { beforeEach, describe, expect, it } from 'vitest';
import type { AgentKeyRow, LoginRow, OperatorRow } from '#contracts';
import { DAY_MS } from '#kernel';
import { FakeTime } from '#testing';
import { STORED_WITHIN_MS } from '../stored-in-time.js';
import { WRITE_AGAIN_MS } from '../unsaved-writes.js';
import { FakeAccessStore } from './access.fixture.js';
import { CREDENTIAL_LIMITS, CredentialDirectory } from './credential-directory.js';

const GIVEN = {
  prefix: 'obs',
  created_at_ms: 0,
  created_by: 'ada',
  last_used_at_ms: null,
  revoked_at_ms: null,
};
const TOKEN: OperatorRow = {
  ...GIVEN,
  token_id: 'token',
  name: 'token',
  role: 'admin',
  tenant_ids: ['red', 'green'],
  secret_hash: 'of the token',
};
const KEY: AgentKeyRow = {
  ...GIVEN,
  key_id: 'key',
  name: 'key',
  tenant_id: 'red',
  secret_hash: 'of the key',
};

let clock: FakeTime;
let store: FakeAccessStore;
let directory: CredentialDirectory;
let told: unknown[];
let unsaved: unknown[];

beforeEach(async () => {
  clock = new FakeTime();
  store = new FakeAccessStore();
  unsaved = [];
  const onLoginUnsaved = (error: unknown) => void unsaved.push(error);
  directory = new CredentialDirectory({ store, clock, timer: clock, onLoginUnsaved });
  told = [];
  directory.onRevoked((revocation) => told.push(revocation));
  await directory.putOperator({ ...TOKEN });
  await directory.putAgentKey({ ...KEY });
});

const loginOf = (token_id: string, cookie_hash = 'cookie'): LoginRow => ({
  cookie_hash,
  token_id,
  operator_id: 'ada',
  tenant_id: 'red',
  expires_at_ms: clock.nowMs() + DAY_MS,
});

describe('whoever came with a token or a login', () => {
  const byToken = { token_id: 'token', login_id: null };
  const byLogin = { token_id: 'token', login_id: 'cookie' };
  const areLive = () => [byToken, byLogin].map((credential) => directory.isLive(credential));

  it('is let go on until that ends, the token with the login or the login alone', async () => {
    await directory.putLogin(loginOf('token'));
    expect(areLive()).toEqual([true, true]);
    await directory.endLogin('cookie');
    expect(areLive()).toEqual([true, false]);
    await directory.putLogin(loginOf('token'));
    clock.advance(DAY_MS - 1);
    expect(areLive()).toEqual([true, true]);
    clock.advance(1);
    expect(areLive()).toEqual([true, false]);
    await directory.revokeOperator('token');
    expect(areLive()).toEqual([false, false]);
    expect(directory.isLive({ token_id: 'nobody', login_id: null })).toBe(false);
  });

  it('has no login any more to a tenant that the token may not act for', async () => {
    await directory.putLogin(loginOf('token'));
    await directory.putOperator({ ...TOKEN, tenant_ids: ['green'] });
    expect(directory.login('cookie')).toBeNull();
    expect(areLive()).toEqual([true, false]);
  });

  it('ends with another secret of the token, which is told, and with no other change of it', async () => {
    await directory.putOperator({ ...TOKEN, token_id: 'other', secret_hash: 'of the other' });
    await directory.putLogin(loginOf('other', 'theirs'));
    await directory.putLogin(loginOf('token'));
    await directory.putOperator({ ...TOKEN, name: 'renamed' });
    expect([told, [...store.loginRows.keys()]]).toEqual([[], ['theirs', 'cookie']]);
    await directory.putOperator({ ...TOKEN, secret_hash: 'another' });
    expect([told, [...store.loginRows.keys()]]).toEqual([
      [{ kind: 'operator', token_id: 'token' }],
      ['theirs'],
    ]);
    expect(directory.login('cookie')).toBeNull();
    expect(directory.login('theirs')).not.toBeNull();
    expect(directory.operatorByHash(TOKEN.secret_hash)).toBeNull();
  });
});

describe('at the bound of its logins', () => {
  it('a token loses the one that expires first, and another keeps its own', async () => {
    await directory.putOperator({ ...TOKEN, token_id: 'other', secret_hash: 'of the other' });
    await directory.putLogin({ ...loginOf('other', 'theirs'), expires_at_ms: clock.nowMs() + 1 });
    for (let at = 0; at < CREDENTIAL_LIMITS.loginsPerTokenMax; at += 1) {
      const expires_at_ms = clock.nowMs() + DAY_MS + (at === 7 ? -1 : at);
      await directory.putLogin({ ...loginOf('token', `${at}`), expires_at_ms });
    }
    expect(told).toEqual([]);
    await directory.putLogin(loginOf('token', 'newest'));
    expect(told).toEqual([{ kind: 'login', login_id: '7' }]);
    expect(store.loginRows.has('7')).toBe(false);
    for (const cookie of ['theirs', '0', 'newest']) expect(directory.login(cookie)).not.toBeNull();
  });
});

describe('an agent key', () => {
  it('ends with another secret, which is told, and with no other change of it', async () => {
    await directory.putAgentKey({ ...KEY, name: 'renamed' });
    expect(told).toEqual([]);
    await directory.putAgentKey({ ...KEY, secret_hash: 'another' });
    expect(told).toEqual([{ kind: 'agent_key', key_id: 'key' }]);
  });
});

describe('what the store refuses', () => {
  it('is written when an operator ends it again: a token, or a key', async () => {
    const { saveOperator, saveAgentKey } = store;
    const refuse = () => Promise.reject(new Error('full'));
    Object.assign(store, { saveOperator: refuse, saveAgentKey: refuse });
    await expect(directory.revokeOperator('token')).rejects.toThrow('full');
    await expect(directory.revokeAgentKey('key')).rejects.toThrow('full');
    await expect(directory.revokeOperator('token')).rejects.toThrow('full');
    Object.assign(store, { saveOperator, saveAgentKey });
    await directory.revokeOperator('token');
    await directory.revokeAgentKey('key');
    expect(store.operatorRows.get('token')?.revoked_at_ms).toBe(clock.nowMs());
    expect(store.keyRows.get('key')?.revoked_at_ms).toBe(clock.nowMs());
  });

  it('is tried until it is written at the end, by a store that was busy for a moment', async () => {
    const { saveAgentKey, deleteLogin } = store;
    await directory.putLogin(loginOf('token'));
    const refuse = () => Promise.reject(new Error('busy'));
    Object.assign(store, { saveAgentKey: refuse, deleteLogin: refuse });
    await expect(directory.revokeAgentKey('key')).rejects.toThrow('busy');
    await expect(directory.endLogin('cookie')).rejects.toThrow('busy');
    const stopped = directory.stop();
    await clock.pass(300);
    Object.assign(store, { saveAgentKey, deleteLogin });
    await clock.pass(1_000);
    await stopped;
    expect(store.keyRows.get('key')?.revoked_at_ms).toEqual(expect.any(Number));
    expect(store.loginRows.size).toBe(0);
  });

  it('makes no key and no token', async () => {
    const refuse = () => Promise.reject(new Error('full'));
    Object.assign(store, { saveAgentKey: refuse, saveOperator: refuse, saveLogin: refuse });
    await expect(directory.putAgentKey({ ...KEY, key_id: 'new', secret_hash: 'new' })).rejects.toThrow(
      'full',
    );
    await expect(directory.putOperator({ ...TOKEN, token_id: 'new', secret_hash: 'new' })).rejects.toThrow();
    expect([directory.hasAgentKey('new'), directory.operatorByHash('new')]).toEqual([false, null]);
  });

  it.each([
    ['refuses', () => Promise.reject(new Error('full'))],
    ['hangs', () => new Promise(() => {})],
  ])('logs people in, until the next start: one that %s', async (_, saveLogin) => {
    Object.assign(store, { saveLogin });
    const loggedIn = directory.putLogin(loginOf('token'));
    await clock.pass(STORED_WITHIN_MS);
    await loggedIn;
    expect(directory.login('cookie')).toMatchObject({ login: { operator_id: 'ada' } });
    expect(unsaved).toEqual([expect.any(Error)]);
    await directory.revokeOperator('token');
    expect(directory.login('cookie')).toBeNull();
  });

  it.each([
    ['refuses', () => Promise.reject(new Error('full'))],
    ['hangs', () => new Promise(() => {})],
  ])('lets a login go over to another tenant: one that %s', async (_, saveLogin) => {
    await directory.putLogin(loginOf('token'));
    Object.assign(store, { saveLogin });
    const moved = directory.moveLogin(loginOf('token'), 'green');
    expect(directory.login('cookie')?.login.tenant_id).toBe('green');
    await clock.pass(STORED_WITHIN_MS);
    expect(await moved).toBe(true);
  });

  it('has a login once it can, in the tenant to which it went, and none that ended', async () => {
    const { saveLogin, deleteLogin } = store;
    await directory.putLogin(loginOf('token'));
    const refuse = () => Promise.reject(new Error('full'));
    Object.assign(store, { saveLogin: refuse, deleteLogin: refuse });
    await directory.moveLogin(loginOf('token'), 'green');
    await directory.putLogin(loginOf('token', 'other'));
    await expect(directory.endLogin('other')).rejects.toThrow('full');
    Object.assign(store, { saveLogin, deleteLogin });
    await clock.pass(WRITE_AGAIN_MS);
    expect([...store.loginRows.values()]).toMatchObject([{ cookie_hash: 'cookie', tenant_id: 'green' }]);
  });
});

it('saves when a token was used last, once a minute', () => {
  const saved = () => store.operatorRows.get('token')?.last_used_at_ms;
  directory.operatorByHash(TOKEN.secret_hash);
  const first = clock.nowMs();
  expect(saved()).toBe(first);
  clock.advance(59_999);
  directory.operatorByHash(TOKEN.secret_hash);
  expect(saved()).toBe(first);
  clock.advance(1);
  directory.operatorByHash(TOKEN.secret_hash);
  expect(saved()).toBe(first + 60_000);
});
