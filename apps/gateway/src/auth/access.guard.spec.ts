import 'reflect-metadata';
import { type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { beforeEach, describe, expect, it } from 'vitest';
import { type AccessFixture, ADMIN, startAccess } from './access.fixture.js';
import { AccessGuard } from './access.guard.js';
import { type AuthenticatedRequest, Public, Requires, RequiresAgent, RequiresAgentOr } from './access.js';

class Routes {
  @Public()
  open() {}
  @Requires('command')
  command() {}
  @RequiresAgent()
  agent() {}
  @RequiresAgentOr('observe')
  either() {}
  forgotten() {}
}

let access: AccessFixture;
let viewerToken: string;
let logged: unknown[];
beforeEach(async () => {
  access = await startAccess();
  viewerToken = (await access.desk.createOperator(ADMIN, { name: 'looker', role: 'viewer' })).secret;
  logged = [];
});

/** What the guard leaves on the request; throws as it throws. */
function enter(
  handler: keyof Routes,
  headers: Record<string, string>,
  method = 'POST',
): AuthenticatedRequest {
  const request = { headers, host: headers.host, method } as unknown as AuthenticatedRequest;
  const context = {
    getType: () => 'http',
    getHandler: () => Routes.prototype[handler],
    getClass: () => Routes,
    switchToHttp: () => ({ getRequest: () => request }),
  } as unknown as ExecutionContext;
  const logger = { error: (...parts: unknown[]) => void logged.push(parts) } as never;
  new AccessGuard({ authenticator: access.authenticator, reflector: new Reflector(), logger }).canActivate(
    context,
  );
  return request;
}

const refusal = (...call: Parameters<typeof enter>): string => {
  try {
    enter(...call);
    return 'entered';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

const bearer = (token: string | null) => ({ authorization: `Bearer ${token}` });

describe('the guard', () => {
  it('denies a handler that says nothing about access, even to an administrator, and logs it', () => {
    expect(
      refusal('forgotten', { ...bearer(access.bootstrap.operatorToken), 'x-observatory-operator-id': 'ada' }),
    ).toBe('forbidden');
    expect(logged).toHaveLength(1);
    expect(JSON.stringify(logged)).toContain('Routes.forgotten');
  });

  it('lets anybody through where that is said', () => {
    expect(enter('open', {}).principal).toBeUndefined();
  });

  it('asks for a credential, then a name, then the right role', () => {
    const named = { 'x-observatory-operator-id': 'ada' };
    expect(refusal('command', {})).toBe('unauthorized');
    expect(refusal('command', bearer(viewerToken))).toBe('missing_operator_id');
    expect(refusal('command', { ...bearer(viewerToken), ...named })).toBe('forbidden');
    const { principal, credential } = enter('command', {
      ...bearer(access.bootstrap.operatorToken),
      ...named,
    });
    expect(principal).toMatchObject({ kind: 'operator', operator_id: 'ada', role: 'admin' });
    expect(credential).toMatchObject({ login_id: null });
  });

  it('lets agents in where agents are meant, and operators only where they are named too', () => {
    const { agentKey, operatorToken } = access.bootstrap;
    expect(enter('agent', bearer(agentKey)).principal).toMatchObject({ kind: 'agent' });
    expect(refusal('agent', bearer(operatorToken))).toBe('unauthorized');
    expect(refusal('command', bearer(agentKey))).toBe('forbidden');
    expect(() => enter('agent', bearer(operatorToken))).toThrow(
      "An operator token or a vendor's key does not work here",
    );
    expect(enter('either', bearer(agentKey), 'GET').principal).toMatchObject({ kind: 'agent' });
    expect(enter('either', bearer(viewerToken), 'GET').principal).toMatchObject({ kind: 'operator' });
    expect(refusal('either', bearer('nobody'), 'GET')).toBe('unauthorized');
  });
});
