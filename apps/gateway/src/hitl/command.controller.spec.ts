import { expect, it } from 'vitest';
import { type Command, type ErrorCode, ObservatoryError, type OperatorPrincipal } from '#contracts';
import { CommandController } from './command.controller.js';
import type { HitlDesk } from './hitl-desk.js';

const ANN = { operator_id: 'ann', tenant_id: 'default', role: 'admin' } as OperatorPrincipal;

async function refusal(command: Command, code: ErrorCode): Promise<ObservatoryError> {
  const error = new ObservatoryError(code, 'Refused.', { retryAfterSeconds: 5 });
  const controller = new CommandController({ execute: () => Promise.reject(error) } as unknown as HitlDesk);
  return controller[command](ANN, 's', {}).catch((reason: unknown) => reason) as never;
}

it.each([
  ['pause', 'store_full'],
  ['terminate', 'store_busy'],
] as const)('names the stop that is left where the store refuses a %s', async (command, code) => {
  const { detail, extra } = await refusal(command, code);
  expect(detail).toBe('Refused. To stop it all the same, deactivate its agent: that is in force at once.');
  expect(extra).toEqual({ retryAfterSeconds: 5 });
});

it.each([
  ['resume', 'store_full'],
  ['inject', 'store_full'],
  ['terminate', 'session_not_found'],
] as const)('and none where a %s is refused: %s', async (command, code) => {
  expect((await refusal(command, code)).detail).toBe('Refused.');
});
