import 'reflect-metadata';
import { get } from 'node:http';
import { type CanActivate, type ExecutionContext, Global, Module } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { sessionKey } from '#contracts';
import { FakeTime } from '#testing';
import { AUTHENTICATOR } from '../auth/authenticator.js';
import { ErrorsModule } from '../errors/errors.module.js';
import { CLOCK, IDS, LIVE, LOGGER, METRICS, RUNTIME_CONFIG, STORE } from '../tokens.js';
import { CONTROL_DESK } from './control-desk.js';
import { FakeStore, operator, TENANT } from './desk.fixture.js';
import { HitlModule } from './hitl.module.js';
import type { HitlDesk } from './hitl-desk.js';

let app: NestFastifyApplication | undefined;

/** Lets everybody in until it is told to revoke. */
class FakeAuthenticator {
  #isRevoked = false;
  readonly #listeners = new Set<() => void>();

  get listenerCount(): number {
    return this.#listeners.size;
  }

  isInForce(): boolean {
    return !this.#isRevoked;
  }

  onRevoked(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  revoke(): void {
    this.#isRevoked = true;
    for (const listener of this.#listeners) listener();
  }
}

afterEach(async () => {
  await app?.close();
  app = undefined;
});

/** Stands for the real guard: an agent, unless the request says operator. */
class FakeGuard implements CanActivate {
  constructor(private readonly authenticator: FakeAuthenticator) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest();
    request.principal = request.headers['x-as-operator']
      ? { ...operator(request.headers['x-as-operator']), isInForce: () => this.authenticator.isInForce() }
      : { kind: 'agent', key_id: 'k', key_name: 'k', tenant_id: TENANT, agent_ids: null };
    return true;
  }
}

async function start() {
  const authenticator = new FakeAuthenticator();
  const store = Object.assign(new FakeStore(), {
    verifyAudit: async () => ({ ok: true, entry_count: 0, broken_at_seq: null }),
  });
  const values = [
    { provide: STORE, useValue: store },
    { provide: LIVE, useValue: { publish: () => {} } },
    { provide: CLOCK, useValue: new FakeTime() },
    { provide: IDS, useValue: { next: () => 'd-1' } },
    { provide: LOGGER, useValue: pino({ level: 'silent' }) },
    { provide: METRICS, useValue: new Registry() },
    { provide: RUNTIME_CONFIG, useValue: { get: () => 0 } },
    { provide: AUTHENTICATOR, useValue: authenticator },
  ];

  @Global()
  @Module({ providers: values, exports: values.map(({ provide }) => provide) })
  class PortsModule {}

  @Module({
    imports: [PortsModule, ErrorsModule, HitlModule],
    providers: [{ provide: APP_GUARD, useValue: new FakeGuard(authenticator) }],
  })
  class TestModule {}

  app = await NestFactory.create<NestFastifyApplication>(TestModule, new FastifyAdapter(), { logger: false });
  await app.init();
  const desk = app.get<HitlDesk>(CONTROL_DESK);
  desk.connect({
    find: async () => ({}) as never,
    setControl: (_key, control) => control,
    publishReleased: () => {},
  });
  return { app, desk, store, authenticator };
}

const AS_OPERATOR = { 'x-as-operator': 'ada' };

describe('the endpoints', () => {
  it('answer a command exactly, and a control poll that acknowledges it', async () => {
    const { app, desk } = await start();
    const paused = await app.inject({
      method: 'POST',
      url: '/v1/sessions/s%2F1/pause',
      headers: AS_OPERATOR,
      payload: { reason: 'look' },
    });
    expect([paused.statusCode, paused.json()]).toEqual([200, { status: 'ok' }]);
    const polled = await app.inject({ url: '/v1/sessions/s%2F1/control?wait_s=55' });
    expect([polled.statusCode, polled.json()]).toMatchObject([
      200,
      { session_id: 's/1', state: 'paused', cursor: 1 },
    ]);
    await desk.settled();
    expect(desk.view(sessionKey(TENANT, 's/1')).state).toBe('paused');
    const confirmed = await app.inject({
      method: 'POST',
      url: '/v1/sessions/s%2F1/control/ack',
      payload: { seq: 1 },
    });
    expect([confirmed.statusCode, confirmed.json()]).toEqual([200, { status: 'ok' }]);
    expect(desk.view(sessionKey(TENANT, 's/1')).pending_directive_count).toBe(0);
  });

  it.each([
    ['a number that was never given', { seq: 99 }],
    ['a name that was never given', { directive_ids: ['never'] }],
    ['what was confirmed before', { seq: 1 }],
  ])('say that an acknowledgement of %s changes nothing', async (_, payload) => {
    const { app, desk } = await start();
    const key = sessionKey(TENANT, 's-1');
    await desk.execute(operator(), 's-1', 'inject', { prompt: 'hint' });
    await desk.acknowledge(key, 1);
    await desk.execute(operator(), 's-1', 'pause', { reason: 'look' });
    const answer = await app.inject({ method: 'POST', url: '/v1/sessions/s-1/control/ack', payload });
    expect([answer.statusCode, answer.json()]).toEqual([200, { status: 'ok', note: 'nothing_waiting' }]);
    expect(desk.view(key).state).toBe('pause_requested');
  });

  it('do not acknowledge for an operator who looks', async () => {
    const { app, desk } = await start();
    await desk.execute(operator(), 's-1', 'pause', { reason: 'look' });
    await app.inject({ url: '/v1/sessions/s-1/control', headers: AS_OPERATOR });
    await desk.settled();
    expect(desk.view(sessionKey(TENANT, 's-1')).state).toBe('pause_requested');
  });

  it('free the place of a client that hung up, and acknowledge nothing for it', async () => {
    const { app, desk } = await start();
    await app.listen(0, '127.0.0.1');
    const key = sessionKey(TENANT, 's-1');
    const client = get(`${await app.getUrl()}/v1/sessions/s-1/control?wait_s=55`);
    client.on('error', () => {});
    await vi.waitFor(() => expect(desk.hangingPollCount).toBe(1));
    client.destroy();
    await vi.waitFor(() => expect(desk.hangingPollCount).toBe(0));
    await desk.execute(operator(), 's-1', 'pause', { reason: 'look' });
    await desk.settled();
    expect(desk.view(key).state).toBe('pause_requested');
  });

  it.each([
    ['an agent', {}],
    ['an operator', AS_OPERATOR],
  ])('refuse the hanging poll of %s at once when its credential is revoked', async (_, headers) => {
    const { app, desk, authenticator } = await start();
    const polling = app.inject({ url: '/v1/sessions/s-1/control?wait_s=55', headers });
    polling.catch(() => {});
    await vi.waitFor(() => expect(desk.hangingPollCount).toBe(1));
    authenticator.revoke();
    const { statusCode, json } = await polling;
    expect([statusCode, json().reason]).toEqual([401, 'unauthorized']);
    expect([desk.hangingPollCount, authenticator.listenerCount]).toEqual([0, 0]);
  });

  it('name the query and body fields at fault', async () => {
    const { app } = await start();
    const poll = await app.inject({ url: '/v1/sessions/s-1/control?wait_s=56&after=x' });
    expect([poll.statusCode, poll.json().fields]).toEqual([422, ['wait_s', 'after']]);
    const ack = await app.inject({ method: 'POST', url: '/v1/sessions/s-1/control/ack', payload: {} });
    expect([ack.statusCode, ack.json().fields]).toEqual([422, ['seq', 'directive_ids']]);
    const audit = await app.inject({ url: '/v1/audit?limit=501', headers: AS_OPERATOR });
    expect([audit.statusCode, audit.json().fields]).toEqual([422, ['limit']]);
  });

  it('export the audit as a file of JSON lines', async () => {
    const { app, desk, store } = await start();
    await desk.execute(operator(), 's-1', 'pause', { reason: 'look' });
    Object.assign(store, { audit: async () => ({ items: [{ seq: 1 }, { seq: 2 }], next_cursor: null }) });
    const exported = await app.inject({ url: '/v1/audit/export', headers: AS_OPERATOR });
    expect(exported.headers['content-type']).toBe('application/x-ndjson');
    expect(exported.headers['content-disposition']).toBe(
      'attachment; filename="observatory-audit-default-2026-01-31.jsonl"',
    );
    expect(exported.body).toBe('{"seq":1}\n{"seq":2}\n');
    const verified = await app.inject({ url: '/v1/audit/verify', headers: AS_OPERATOR });
    expect(verified.json()).toEqual({ ok: true, entry_count: 0, broken_at_seq: null });
  });
});
