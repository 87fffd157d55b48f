/** Entry of the worker threads: opens what `workerData` says, tells whether that went well, then serves requests. */
import { parentPort, workerData } from 'node:worker_threads';
import { openDatabaseThread } from './database-thread.js';
import {
  OPENED_ID,
  type ThreadAnswer,
  type ThreadNotice,
  type ThreadRequest,
  type ThreadSettings,
} from './protocol.js';

const port = parentPort;
if (port === null) throw new Error('sqlite-worker must be started as a worker thread');

try {
  const serve = openDatabaseThread(workerData as ThreadSettings, (event) => {
    port.postMessage({ event } satisfies ThreadNotice);
  });
  port.on('message', (request: ThreadRequest) => {
    port.postMessage(serve(request));
    if (request.kind === 'close') port.close();
  });
  port.postMessage({ id: OPENED_ID, ok: true, result: null, durationMs: 0 } satisfies ThreadAnswer);
} catch (error) {
  const detail = error instanceof Error ? error.message : String(error);
  port.postMessage({
    id: OPENED_ID,
    ok: false,
    failure: { reason: 'failed', detail },
  } satisfies ThreadAnswer);
}
