/**
 * `GET /metrics` for Prometheus, without a password: on loopback unless told otherwise, and never for a page in a browser
 * whose name leads here.
 */
import { createServer, type Server } from 'node:http';
import type { Registry } from 'prom-client';
import { isInternetName } from '#domain/auth';
import { CONFIG_VARIABLES } from '#domain/sidecar-settings';
import { ConfigError } from '#kernel';

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

/** @throws ConfigError naming port or host where either can't be had */
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
    server.once('error', (error) => fail(cannotListen(error, { host, port })));
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

/** What the system says against listening, as the setting that is to be changed; else the error itself. */
function cannotListen(error: NodeJS.ErrnoException, { host, port }: MetricsAddress): Error {
  const ofPort = (remedy: string) => new ConfigError(CONFIG_VARIABLES.metricsPort, String(port), remedy);
  switch (error.code) {
    case 'EADDRINUSE':
      return ofPort(`another program listens at ${host} there; end it, or choose another port.`);
    case 'EACCES':
      return ofPort('this user may not listen there; choose a port from 1024 up, such as 9464.');
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EINVAL':
      return new ConfigError(
        CONFIG_VARIABLES.metricsHost,
        host,
        'this machine has no such name or address; give 127.0.0.1 for itself alone, 0.0.0.0 for whoever reaches it.',
      );
    default:
      return error;
  }
}
