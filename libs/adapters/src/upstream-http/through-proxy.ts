/** Connections through a forward proxy: a tunnel, as RFC 9110, section 9.3.6 has it, and TLS to the host in it. */
import { request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { isIPv6, type Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { bareAddress, connectionFailure, type ForwardProxy, percentDecoded } from '#kernel';

type Connector = buildConnector.connector;

/** Before the status with which the proxy refused, or the code of why there was no talking to it. */
const PREFIX = 'FORWARD_PROXY_';

/** What hosts that the proxy is for are connected with; any other is as it was. @param timeoutMs until there is a tunnel */
export const throughProxy = (proxy: ForwardProxy | null, connect: Connector, timeoutMs: number): Connector =>
  proxy === null
    ? connect
    : (options, callback) => {
        const port = Number(options.port || 443);
        if (options.protocol !== 'https:' || !proxy.isFor(options.hostname, port))
          return connect(options, callback);
        openTunnel(proxy.url, `${hostOf(options.hostname)}:${port}`, timeoutMs, (error, httpSocket) =>
          httpSocket === null ? callback(error, null) : connect({ ...options, httpSocket }, callback),
        );
      };

const hostOf = (name: string): string => (isIPv6(name) ? `[${name}]` : name);

type Opened = (...[error, socket]: [error: null, socket: Socket] | [error: Error, socket: null]) => void;

/** @param to host and port */
function openTunnel(proxy: URL, to: string, timeoutMs: number, opened: Opened): void {
  const isSecure = proxy.protocol === 'https:';
  const asked = (isSecure ? requestByHttps : requestByHttp)({
    method: 'CONNECT',
    host: bareAddress(proxy.hostname),
    port: proxy.port || (isSecure ? 443 : 80),
    path: to,
    headers: { host: to, ...authorizationOf(proxy) },
    agent: false,
    timeout: timeoutMs,
  });
  asked.on('connect', ({ statusCode = 0 }, socket: Socket) => {
    socket.setTimeout(0);
    if (statusCode >= 200 && statusCode < 300) return opened(null, socket);
    socket.destroy();
    opened(failureOf(String(statusCode)), null);
  });
  asked.on('timeout', () => asked.destroy(Object.assign(new Error('no tunnel'), { code: 'ETIMEDOUT' })));
  asked.on('error', (error) => opened(failureOf(connectionFailure(error).code ?? 'ERROR'), null));
  asked.end();
}

const failureOf = (why: string): Error =>
  Object.assign(new Error('the forward proxy gave no tunnel'), { code: PREFIX + why });

function authorizationOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const credentials = [username, password].map((part) => percentDecoded(part) ?? part).join(':');
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}

/** In words, if the code is one of a forward proxy. */
export function forwardProxyFailure(code: string): string | null {
  if (!code.startsWith(PREFIX)) return null;
  const why = code.slice(PREFIX.length);
  if (why === '407') return 'the forward proxy asks for a name and a password (407)';
  if (/^\d+$/.test(why)) return `the forward proxy does not let it through (${why})`;
  return `of the forward proxy, ${connectionFailure({ code: why }).words ?? why}`;
}
