/** The sidecar put together. The order matters: the model is warm and the store chosen before the socket exists. */
import type { Logger } from 'pino';
import { type EmbeddingHandlers, type EmbeddingServer, serveEmbedding } from '#adapters/grpc';
import type { Embedder, PromptHistory, SidecarDescription } from '#contracts/embedding';
import { cutPrompt } from '#domain/semantic-loop';
import type { SidecarConfig, SidecarSecrets } from '#domain/sidecar-settings';
import { decideVeto } from '#domain/text-likeness';
import { randomIds, systemClock } from '#kernel';
import { CheckLoop } from './check-loop.js';
import { openHistory } from './open-history.js';
import { SidecarTelemetry } from './telemetry.js';

/** How often a store in another process is asked whether it is there, for the health service. */
const PROBE_EVERY_MS = 5_000;

export interface SidecarParts {
  config: SidecarConfig;
  secrets: SidecarSecrets;
  logger: Logger;
  /** On its way, or open; closed with the sidecar, or when that does not come about. */
  embedder: Promise<Embedder>;
}

export interface Sidecar {
  readonly socketPath: string;
  readonly description: SidecarDescription;
  readonly telemetry: SidecarTelemetry;
  /** Answers what has begun, removes the socket, closes the rest. Never rejects. */
  stop(): Promise<void>;
}

/** Serving when it resolves. @throws Error whose text says what is wrong and what to do; then nothing is left behind */
export async function startSidecar({ config, secrets, logger, ...parts }: SidecarParts): Promise<Sidecar> {
  const figures =
    config.metricsPort === null ? null : new (await import('./sidecar-figures.js')).SidecarFigures();
  const telemetry = new SidecarTelemetry(logger, systemClock, figures);
  /** In the order of opening. */
  const closings: (() => Promise<unknown>)[] = [];
  const closeAll = async (): Promise<void> => {
    for (const close of closings.reverse()) await close().catch(() => {});
  };
  try {
    const embedder = await parts.embedder;
    closings.push(() => embedder.close());
    const history = await openHistory({ config, secrets, telemetry, embedder: embedder.description });
    closings.push(() => history.close());
    const handlers = makeHandlers({ config, embedder, history, telemetry });
    if (config.metricsPort !== null && figures !== null) {
      const { openMetricsEndpoint } = await import('./metrics-endpoint.js');
      const endpoint = await openMetricsEndpoint(config.metricsPort, figures.registry);
      closings.push(() => endpoint.close());
    }
    const server = await serveEmbedding({ handlers, socketPath: config.socketPath });
    closings.push(() => server.close());
    if (history.kind === 'redis') closings.push(watchStore(history, server, telemetry));
    return {
      socketPath: server.socketPath,
      description: handlers.describe(),
      telemetry,
      stop: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

interface HandlerParts {
  config: SidecarConfig;
  embedder: Embedder;
  history: PromptHistory;
  telemetry: SidecarTelemetry;
}

function makeHandlers({ config, embedder, history, telemetry }: HandlerParts): EmbeddingHandlers {
  const startedMs = performance.now();
  const { description } = embedder;
  const loopWhenSimilarityAbove = config.loopWhenSimilarityAbove ?? description.loopWhenSimilarityAbove;
  const checks = new CheckLoop({
    embedder,
    history,
    // The earlier prompt was cut when it was remembered.
    vetoOf: (earlier, later) =>
      decideVeto(earlier, cutPrompt(later), { strict: description.needsStrictGate }),
    clock: systemClock,
    ids: randomIds,
    observer: telemetry,
    loopWhenSimilarityAbove,
    checksMax: config.queueMax,
  });
  telemetry.gauge('queued', 'Texts waiting for the model.', () => embedder.queuedCount);
  telemetry.gauge('checks_under_way', 'Checks not yet answered and remembered.', () => checks.underWayCount);
  return {
    async checkLoop(query, { timeoutMs, traceParent }) {
      const beganMs = performance.now();
      try {
        const answer = await checks.run(query, timeoutMs);
        telemetry.checked(answer, performance.now() - beganMs, traceParent);
        return answer;
      } catch (error) {
        telemetry.checkFailed(error, traceParent);
        throw error;
      }
    },
    async embed(text, { timeoutMs, traceParent }) {
      try {
        const embedding = await embedder.embed(text, { timeoutMs });
        telemetry.embedAnswered(embedding.fitness);
        return { ...embedding, model_id: description.model_id };
      } catch (error) {
        telemetry.embedFailed(error, traceParent);
        throw error;
      }
    },
    describe: () => ({
      ...description,
      loop_similarity_threshold: loopWhenSimilarityAbove,
      store: history.kind,
      history_size: config.historySize,
      ttl_s: Math.round(config.ttlMs / 1_000),
      checks_total: telemetry.totals.checks,
      loops_total: telemetry.totals.loops,
      failures_total: telemetry.totals.failures,
      queued: embedder.queuedCount,
      uptime_s: (performance.now() - startedMs) / 1_000,
    }),
  };
}

/** Keeps the health of the embedding service true to its store. @returns how to stop */
function watchStore(
  history: PromptHistory,
  server: EmbeddingServer,
  telemetry: SidecarTelemetry,
): () => Promise<void> {
  let wasThere = true;
  const look = async (): Promise<void> => {
    const isThere = await history.probe().then(
      () => true,
      () => false,
    );
    if (isThere === wasThere) return;
    wasThere = isThere;
    server.setServing(isThere);
    if (isThere) telemetry.said('info', 'store_back', 'the store of prompts answers again');
    else telemetry.said('warn', 'store_lost', 'the store of prompts does not answer; checks fail open');
  };
  const timer = setInterval(look, PROBE_EVERY_MS);
  void look();
  return async () => clearInterval(timer);
}
