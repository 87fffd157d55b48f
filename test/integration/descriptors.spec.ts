/** A gateway that may open nothing more: those who are connected go on, and somebody is told why nobody else gets in. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { startGateway } from './start-gateway.js';

const SPARE = 20;

test('without a file descriptor left it says so, is not ready, and recovers by itself', async () => {
  const gateway = await startGateway();
  const { port } = new URL(gateway.url);
  const pid = String(gateway.process.pid);
  const allow = (count: number | string) => execFileSync('prlimit', ['--pid', pid, `--nofile=${count}:`]);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ready = async () => {
    const [response] = await once(get(`${gateway.url}/readyz`, { agent }), 'response');
    return JSON.parse(await text(response));
  };
  expect(await ready()).toEqual({ status: 'ok' });

  // The limit is of numbers: with those in use alone, and no gap among them, nothing would be free when the crowd is gone.
  allow(readdirSync(`/proc/${pid}/fd`).length + SPARE);
  const crowd = Array.from({ length: 100 }, () => connect(Number(port), '127.0.0.1').on('error', () => {}));
  await expect.poll(ready).toEqual({ status: 'unavailable', reasons: ['no file descriptors left'] });
  await expect.poll(() => gateway.output()).toContain('"connections_refused","code":"EMFILE"');
  expect(gateway.output().split('connections_refused')).toHaveLength(2);

  for (const socket of crowd) socket.destroy();
  await expect.poll(ready).toEqual({ status: 'ok' });
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  agent.destroy();
  expect(await gateway.stop()).toBe(0);
});
