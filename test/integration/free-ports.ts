import { type AddressInfo, createServer } from 'node:net';

/** Nobody listens on them now; for servers that cannot be told to choose one, and for one that is to come later. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  await Promise.all(
    servers.map((server) => new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((settle) => server.close(settle))));
  return ports;
}

export const freePort = async (): Promise<number> => (await freePorts(1))[0] as number;
