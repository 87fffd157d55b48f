import { expect, it } from 'vitest';
import { cannotBind, SocketPathFailure } from './socket-file.js';

const bindError = (code: string): Error =>
  new Error(`No address added out of total 1 resolved errors: [listen ${code}: no /run/s.sock]`);

it.each(['EACCES', 'EPERM', 'EROFS'])('says of a bind that ends with %s who must be given what', (code) => {
  const failure = cannotBind(bindError(code), '/run/s.sock');
  expect(failure).toBeInstanceOf(SocketPathFailure);
  expect(failure.message).toBe(
    `this user may make no socket at /run/s.sock (${code}): give it that folder to write to, or choose another socket path.`,
  );
});

it('leaves any other error of a bind as it is', () => {
  const error = bindError('EADDRINUSE');
  expect(cannotBind(error, '/run/s.sock')).toBe(error);
});
