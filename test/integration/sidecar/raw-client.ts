/** The service as a stranger calls it who has nothing but the proto: plain unary calls and raw streams. */
import { createRequire } from 'node:module';
import { type ClientDuplexStream, credentials, loadPackageDefinition, Metadata } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

const require = createRequire(import.meta.url);

export interface RawAnswer {
  /** 0: answered. */
  code: number;
  details: string;
  value: any;
}

export interface RawClient {
  call(method: 'CheckLoop' | 'Embed' | 'Describe', request: object, options?: RawOptions): Promise<RawAnswer>;
  exchange(): ClientDuplexStream<any, any>;
  close(): void;
}

export interface RawOptions {
  deadlineMs?: number;
  traceParent?: string;
}

export function openRawClient(socketPath: string): RawClient {
  const file = require.resolve('#proto/observatory/embedding/v1/embedding.proto');
  const loaded: any = loadPackageDefinition(
    loadSync(file, { keepCase: true, enums: String, defaults: true }),
  );
  const client = new loaded.observatory.embedding.v1.EmbeddingService(
    `unix:${socketPath}`,
    credentials.createInsecure(),
    { 'grpc.max_send_message_length': -1 },
  );
  return {
    call: (method, request, { deadlineMs = 5_000, traceParent } = {}) =>
      new Promise((resolve) => {
        const metadata = new Metadata();
        if (traceParent !== undefined) metadata.set('traceparent', traceParent);
        client[method](request, metadata, { deadline: Date.now() + deadlineMs }, (error: any, value: any) =>
          resolve({ code: error?.code ?? 0, details: error?.details ?? '', value }),
        );
      }),
    exchange: () => client.Exchange(),
    close: () => client.close(),
  };
}
