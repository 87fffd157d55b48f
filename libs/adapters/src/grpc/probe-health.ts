/** One question to the standard health service, for container health checks and tests. */
import { Client, credentials } from '@grpc/grpc-js';
import { type HealthImplementation, service } from 'grpc-health-check';

/** As the health protocol spells them. */
export type ServingState = Parameters<HealthImplementation['setStatus']>[1] | 'SERVICE_UNKNOWN';

export interface ProbeHealthOptions {
  /** Absolute. */
  socketPath: string;
  /** Empty: the server as a whole. */
  serviceName: string;
  timeoutMs: number;
}

/** @throws the call's error when nobody answers in time, or the service is not known (NOT_FOUND) */
export async function probeHealth({
  socketPath,
  serviceName,
  timeoutMs,
}: ProbeHealthOptions): Promise<ServingState> {
  const client = new Client(`unix:${socketPath}`, credentials.createInsecure());
  const { path, requestSerialize, responseDeserialize } = service.Check as NonNullable<typeof service.Check>;
  try {
    const { status } = await new Promise<{ status: ServingState }>((resolve, reject) => {
      client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        { service: serviceName },
        { deadline: Date.now() + timeoutMs },
        (error, value) =>
          value === undefined ? reject(error) : resolve(value as unknown as { status: ServingState }),
      );
    });
    return status;
  } finally {
    client.close();
  }
}
