/** Where the last prompts of each session are kept: in this process, or in a Redis with its query engine. */
import type { EmbedderDescription, PromptHistory } from '#contracts/embedding';
import { MemoryPromptHistory } from '#domain/semantic-loop';
import type { SidecarConfig, SidecarSecrets } from '#domain/sidecar-settings';
import { systemClock, systemTimer } from '#kernel';
import { LateHistory } from './late-history.js';
import type { SidecarTelemetry } from './telemetry.js';

export interface OpenHistoryParts {
  config: SidecarConfig;
  secrets: SidecarSecrets;
  telemetry: SidecarTelemetry;
  embedder: EmbedderDescription;
}

/** @throws PromptHistoryFailure for a Redis that can never serve; one that is not there yet is waited for */
export async function openHistory(parts: OpenHistoryParts): Promise<PromptHistory> {
  const history =
    parts.secrets.redisUrl === null ? inMemory(parts) : await inRedis(parts, parts.secrets.redisUrl);
  try {
    await history.open();
  } catch (error) {
    // Its connection would go on trying.
    await history.close();
    throw error;
  }
  return history;
}

function inMemory({ config, telemetry, embedder }: OpenHistoryParts): PromptHistory {
  const history = new MemoryPromptHistory({
    clock: systemClock,
    dimension: embedder.dimension,
    countMax: config.historySize,
    ttlMs: config.ttlMs,
  });
  telemetry.gauge('history_scopes', 'Sessions whose prompts are remembered.', () => history.counts().scopes);
  telemetry.gauge('history_bytes', 'What the remembered prompts take, about.', () => history.counts().bytes);
  telemetry.counter('history_evicted_total', 'Sessions forgotten early because a bound was reached.', () => {
    const { evicted_capacity, evicted_memory } = history.counts();
    return evicted_capacity + evicted_memory;
  });
  return history;
}

async function inRedis(
  { config, telemetry, embedder }: OpenHistoryParts,
  url: string,
): Promise<PromptHistory> {
  const { connectRedis, RedisPromptHistory } = await import('#adapters/redis');
  const connection = connectRedis(url, {
    connectionName: 'observatory-embedding-sidecar',
    onError: ({ reason }) => telemetry.storeTroubled(reason),
  });
  const history = new RedisPromptHistory({
    connection,
    model: embedder,
    countMax: config.historySize,
    ttlMs: config.ttlMs,
  });
  telemetry.gauge('history_pending', 'Replies of Redis that are awaited.', () => history.counts().pending);
  telemetry.counter(
    'history_timeouts_total',
    'Replies of Redis that did not come in time.',
    () => history.counts().timeouts,
  );
  telemetry.counter(
    'history_refused_total',
    'Requests not sent to Redis because too many replies were awaited.',
    () => history.counts().refused_pending,
  );
  telemetry.counter(
    'history_indexes_created_total',
    'How often the index of prompts was not there and was made.',
    () => history.counts().indexes_created,
  );
  return new LateHistory({
    history,
    timer: systemTimer,
    onState: (failure) =>
      failure === null
        ? telemetry.said('info', 'store_opened', 'the store of prompts is there')
        : telemetry.said('error', 'store_missing', 'no store of prompts yet; checks are refused meanwhile', {
            reason: failure.reason,
            detail: failure.message,
          }),
  });
}
