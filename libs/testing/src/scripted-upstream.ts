/**
 * A vendor's API as a real HTTP server whose answers are a script: what arrived is kept byte for byte, what leaves is
 * written as the test says, chunk by chunk if it likes. Stands in for paid upstreams, and for nothing else.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface UpstreamCall {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingMessage['headers'];
  rawHeaders: string[];
  body: Buffer;
  /** The body as JSON; undefined when it is none. */
  json: unknown;
  /** Resolves when the caller hung up before its answer was complete. */
  aborted: Promise<void>;
}

export type UpstreamScript = (call: UpstreamCall, response: ServerResponse, index: number) => unknown;

export class ScriptedUpstream {
  readonly calls: UpstreamCall[] = [];
  readonly #server: Server;
  #script: UpstreamScript = (_call, response) => {
    response.writeHead(500).end('no script');
  };

  constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  /** Scheme, host and port. */
  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  /** From now on; forgets earlier calls. */
  script(script: UpstreamScript): void {
    this.calls.length = 0;
    this.#script = script;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const body = Buffer.concat(chunks);
    const aborted = new Promise<void>((resolve) => {
      response.on('close', () => {
        if (!response.writableFinished) resolve();
      });
    });
    const call: UpstreamCall = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      body,
      json: parse(body),
      aborted,
    };
    this.calls.push(call);
    await this.#script(call, response, this.calls.length - 1);
  }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Answers with JSON. */
export function respondJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

/** Writes events one by one, each in a chunk of its own, and waits for a slow reader. */
export async function respondEvents(
  response: ServerResponse,
  events: Iterable<string>,
  { pauseMs = 0, end = true }: { pauseMs?: number; end?: boolean } = {},
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  for (const event of events) {
    if (response.destroyed) return;
    if (!response.write(event)) await writable(response);
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  if (end) response.end();
}

/** Resolves when it takes more, or never will. */
function writable(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}
