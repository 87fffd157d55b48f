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

it('is not read by a page whose name leads to this machine', async () => {
  const { status, text } = await askedAs(`rebound.example.com:${endpoint.port}`);
  expect(status).toBe(403);
  expect(text).not.toContain('checks_total');
});
