/** A body of DecisionLogs that came as gzip and never ends. */
import type { Socket } from 'node:net';

/** @param bytes what comes of it, compressed */
export function writeStalledBody(connection: Socket, key: string, bytes: Buffer): void {
  const head = [
    'POST /v1/decision-logs HTTP/1.1',
    'Host: gateway',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    'Content-Encoding: gzip',
    'Transfer-Encoding: chunked',
    '',
    bytes.length.toString(16),
    '',
  ];
  connection.write(head.join('\r\n'));
  connection.write(bytes);
}
