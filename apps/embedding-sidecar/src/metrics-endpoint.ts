/**
 * `GET /metrics` for Prometheus, without a password: on loopback unless told otherwise, and never for a page in a browser
 * whose name leads here.
 */
import { createServer, type Server } from 'node:http';
import type { Registry } from 'prom-client';
import { isInternetName } from '#domain/auth';

export interface MetricsEndpoint {
  readonly port: number;
  close(): Promise<void>;
}

export interface MetricsAddress {
  /** Name or address. */
  host: string;
  /** 0: any. */
  port: number;
}

/** @throws the system's error when the port can't be had */
export async function openMetricsEndpoint(
  { host, port }: MetricsAddress,
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
    server.once('error', fail);
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
