/**
 * What one of the store's threads does with a request. Free of the thread itself, so that the same code runs
 * in a worker and, for tests and small tools, in the caller's own thread.
 */
import { checkpoint, openCheckpointConnection } from './database-file.js';
import type { ThreadAnswer, ThreadRequest, ThreadSettings } from './protocol.js';
import { SqliteReader } from './sqlite-reader.js';
import { openWriter } from './sqlite-writer.js';
import type { StoreEvent } from './store-event.js';
import { toFailure } from './thread-failure.js';

/** Never throws: a failure is an answer. */
export type DatabaseThread = (request: ThreadRequest) => ThreadAnswer;

/**
 * @param onEvent what is told before the database is open
 * @throws Error with a reason for the person who started the server, if the database cannot be opened
 */
export function openDatabaseThread(
  settings: ThreadSettings,
  onEvent: (event: StoreEvent) => void,
): DatabaseThread {
  const serve = serveRole(settings, onEvent);
  return (request) => {
    const startedMs = performance.now();
    try {
      const result = serve(request);
      return { id: request.id, ok: true, result, durationMs: performance.now() - startedMs };
    } catch (error) {
      return { id: request.id, ok: false, failure: toFailure(settings.path, error) };
    }
  };
}

function serveRole(settings: ThreadSettings, onEvent: (event: StoreEvent) => void) {
  if (settings.role === 'writer') return serveWrites(settings, onEvent);
  return settings.role === 'checkpointer' ? serveCheckpoints(settings) : serveReads(settings);
}

function serveWrites(settings: ThreadSettings, onEvent: (event: StoreEvent) => void) {
  const writer = openWriter(settings, onEvent);
  return (request: ThreadRequest): unknown => {
    if (request.kind === 'write') return writer.write(request.operations);
    if (request.kind === 'checkpoint') return writer.beginLogAnew();
    if (request.kind === 'close') return writer.close();
    throw new Error(`the writing thread takes no "${request.kind}"`);
  };
}

function serveReads(settings: ThreadSettings) {
  const reader = new SqliteReader(settings.path);
  return (request: ThreadRequest): unknown => {
    if (request.kind === 'read') return reader.run(request.name, request.args);
    if (request.kind === 'close') return reader.close();
    throw new Error(`the reading thread takes no "${request.kind}"`);
  };
}

function serveCheckpoints(settings: ThreadSettings) {
  const database = openCheckpointConnection(settings);
  return (request: ThreadRequest): unknown => {
    if (request.kind === 'checkpoint') return checkpoint(database, 'PASSIVE');
    if (request.kind === 'close') return database.close();
    throw new Error(`the checkpointing thread takes no "${request.kind}"`);
  };
}
