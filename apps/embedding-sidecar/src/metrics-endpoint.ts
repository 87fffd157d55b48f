/**
 * `GET /metrics` for Prometheus, without a password: on loopback unless told otherwise, and never for a page in a browser
 * whose name leads here.
 */
import { createServer, type Server } from 'node:http';
import type { Registry } from 'prom-client';
import { isInternetName } from '#domain/auth';
import { CONFIG_VARIABLES } from '#domain/sidecar-settings';
import { cannotListen, type ListenPlace } from '#kernel';

export interface MetricsEndpoint {
  readonly port: number;
  close(): Promise<void>;
}

const LISTEN_SETTINGS = {
  hostVariable: CONFIG_VARIABLES.metricsHost,
  portVariable: CONFIG_VARIABLES.metricsPort,
  freePort: 9464,
};

/** @param port 0: any @throws ConfigError naming port or host where either can't be had */
export async function openMetricsEndpoint(
  { host, port }: ListenPlace,
  metrics: Registry,
): Promise<MetricsEndpoint> {
  const server: Server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url?.split('?', 1)[0] !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    if (isInternetName(request.headers.host)) {
      response.writeHead(403).end();
      return;
    }
    metrics.metrics().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((done, fail) => {
    server.once('error', (error) => fail(cannotListen(error, { host, port }, LISTEN_SETTINGS)));
    server.listen({ port, host }, done);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
