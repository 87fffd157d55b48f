import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { startGateway } from './lib/gateway-process.mjs';

it('takes nobody else who answers on the port for the gateway it started', async () => {
  const other = createServer((_request, response) => response.end('ready'));
  await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
  const { port } = other.address() as AddressInfo;
  await expect(startGateway({ port })).rejects.toThrow('EADDRINUSE');
  await new Promise((closed) => other.close(closed));
});
