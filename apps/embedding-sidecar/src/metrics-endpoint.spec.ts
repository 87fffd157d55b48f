import { get } from 'node:http';
import { Counter, Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type MetricsEndpoint, openMetricsEndpoint } from './metrics-endpoint.js';

let endpoint: MetricsEndpoint;

beforeEach(async () => {
  const metrics = new Registry();
  new Counter({ name: 'checks_total', help: 'Checks.', registers: [metrics] }).inc();
  endpoint = await openMetricsEndpoint({ host: '127.0.0.1', port: 0 }, metrics);
});
afterEach(() => endpoint.close());

const askedAs = (host: string): Promise<{ status: number | undefined; text: string }> =>
  new Promise((resolve, reject) => {
    get({ port: endpoint.port, host: '127.0.0.1', path: '/metrics', headers: { host } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => (text += chunk));
      response.once('end', () => resolve({ status: response.statusCode, text }));
    }).once('error', reject);
  });

it.each(['127.0.0.1', '[::1]', 'localhost', 'sidecar'])('is read by who asks for it as %s', async (name) => {
  const { status, text } = await askedAs(`${name}:${endpoint.port}`);
  expect(status).toBe(200);
  expect(text).toContain('checks_total 1');
});

it('that cannot have its port or its address says which setting that is, and what to do', async () => {
  const metrics = new Registry();
  const { port } = endpoint;
  await expect(openMetricsEndpoint({ host: '127.0.0.1', port }, metrics)).rejects.toThrow(
    `LOOP_METRICS_PORT="${port}" cannot be used: another program listens at 127.0.0.1 there; end it, or choose another port.`,
  );
  await expect(openMetricsEndpoint({ host: '192.0.2.1', port: 0 }, metrics)).rejects.toThrow(
    /^LOOP_METRICS_HOST="192\.0\.2\.1" cannot be used: this machine has no such name or address/,
  );
});

it('is not read by a page whose name leads to this machine', async () => {
  const { status, text } = await askedAs(`rebound.example.com:${endpoint.port}`);
  expect(status).toBe(403);
  expect(text).not.toContain('checks_total');
});
