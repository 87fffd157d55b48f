/** Host names looked up at a real name server, with a hosts file and a system as a test says. */
import { createSocket, type Socket } from 'node:dgram';
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { NameLookup } from '#adapters/dns';
import { deferred } from '#kernel';
import { type DnsServer, startDnsServer } from './dns-server.js';

const NEVER = new AbortController().signal;

let folder: string;
let hostsFile: string;
let server: DnsServer;
let silent: Socket;
/** Names that the system was asked for. */
let asked: string[];
/** What it says. */
let askSystem: (hostname: string) => Promise<readonly LookupAddress[]>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'observatory-names-'));
  hostsFile = join(folder, 'hosts');
  writeFileSync(
    hostsFile,
    '# ours\n::1 v6.test both.test\n10.0.0.5\thooks.test other.test # moved\n127.0.0.9 both.test\n',
  );
  server = await startDnsServer();
  silent = createSocket('udp4').bind(0, '127.0.0.1');
  await once(silent, 'listening');
});
afterAll(() => {
  server.close();
  silent.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  server.answers = [];
  server.queried.length = 0;
  asked = [];
  askSystem = async () => [{ address: '192.0.2.7', family: 4 }];
});

function namesBy(address: string): NameLookup {
  return new NameLookup({
    servers: [address],
    hostsFile,
    askSystem: (hostname) => {
      asked.push(hostname);
      return askSystem(hostname);
    },
  });
}
const addressesOf = async (names: NameLookup, hostname: string) =>
  (await names.addressesOf(hostname, NEVER)).map(({ address, family }) => `${address}/${family}`);

it('the hosts file comes first, and nobody is asked', async () => {
  const names = namesBy(server.address);
  server.answers = [['198.51.100.1']];
  expect(await addressesOf(names, 'HOOKS.test')).toEqual(['10.0.0.5/4']);
  expect(await addressesOf(names, 'both.test')).toEqual(['127.0.0.9/4', '::1/6']);
  expect([server.queried, asked]).toEqual([[], []]);
});

it('then the name server, and no thread of the system', async () => {
  server.answers = [['198.51.100.1', '198.51.100.2']];
  const found = await addressesOf(namesBy(server.address), 'hooks.example');
  expect(found.sort()).toEqual(['198.51.100.1/4', '198.51.100.2/4']);
  expect([server.queried, asked]).toEqual([['hooks.example'], []]);
});

it('the system tells of a name that the server does not know, and of one without a dot', async () => {
  const names = namesBy(server.address);
  expect(await addressesOf(names, 'printer.local')).toEqual(['192.0.2.7/4']);
  expect(await addressesOf(names, 'mailhog')).toEqual(['192.0.2.7/4']);
  expect([server.queried, asked]).toEqual([['printer.local'], ['printer.local', 'mailhog']]);
});

it('names that nobody answers for take no thread from those that others look up', async () => {
  const names = namesBy(`127.0.0.1:${silent.address().port}`);
  const deadline = new AbortController();
  let endedCount = 0;
  let queryCount = 0;
  const allAsked = deferred<void>();
  silent.on('message', () => {
    queryCount += 1;
    // Of each name an IPv4 and an IPv6 address.
    if (queryCount === 16) allAsked.resolve();
  });
  const waiting = Array.from({ length: 8 }, (_, n) => names.addressesOf(`n${n}.test`, deadline.signal));
  const ended = Promise.allSettled(waiting.map((one) => one.finally(() => (endedCount += 1))));
  await allAsked.promise;
  await lookup('localhost');
  expect([endedCount, asked]).toEqual([0, []]);
  deadline.abort();
  for (const one of await ended)
    expect(one).toMatchObject({ status: 'rejected', reason: { code: 'EAI_AGAIN' } });
  expect(asked).toEqual([]);
});

it('asks the system for one name at a time, and for none whose deadline has passed meanwhile', async () => {
  const names = namesBy(server.address);
  const first = deferred<readonly LookupAddress[]>();
  const isAsked = deferred<void>();
  askSystem = () => {
    isAsked.resolve();
    return first.promise;
  };
  const one = addressesOf(names, 'one');
  await isAsked.promise;
  const deadline = new AbortController();
  const late = names.addressesOf('late', deadline.signal);
  const next = addressesOf(names, 'next');
  deadline.abort();
  askSystem = async () => [{ address: '192.0.2.8', family: 4 }];
  expect(asked).toEqual(['one']);
  first.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
  await expect(one).rejects.toMatchObject({ code: 'ENOTFOUND' });
  await expect(late).rejects.toBe(deadline.signal.reason);
  expect(await next).toEqual(['192.0.2.8/4']);
  expect(asked).toEqual(['one', 'next']);
});
