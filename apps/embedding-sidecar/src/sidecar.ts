/** The sidecar put together. The order matters: the model is warm and the store chosen before the socket exists. */
import type { Logger } from 'pino';
import { type EmbeddingHandlers, SocketPathFailure, serveEmbedding } from '#adapters/grpc';
import type { Embedder, PromptHistory, SidecarDescription } from '#contracts/embedding';
import { cutPrompt } from '#domain/semantic-loop';
import { CONFIG_VARIABLES, type SidecarConfig, type SidecarSecrets } from '#domain/sidecar-settings';
import { decideVeto } from '#domain/text-likeness';
import { ConfigError, randomIds, systemClock, systemTimer } from '#kernel';
import { CheckLoop } from './check-loop.js';
import { openHistory } from './open-history.js';
import { SidecarTelemetry } from './telemetry.js';
import { WatchedHistory } from './watched-history.js';

export interface SidecarParts {
  config: SidecarConfig;
  secrets: SidecarSecrets;
  logger: Logger;
  /** On its way, or open; closed with the sidecar, or when that does not come about. */
  embedder: Promise<Embedder>;
  /** Of a gateway, which starts it again whenever it ends: it serves without its figures rather than not at all. */
  isChild: boolean;
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
    const store = await openHistory({ config, secrets, telemetry, embedder: embedder.description });
    let setServing = (_isServing: boolean): void => {};
    const watched = store.kind === 'redis' ? watchStore(store, telemetry, (is) => setServing(is)) : null;
    const history = watched ?? store;
    closings.push(() => history.close());
    const problem = () => watched?.problem ?? null;
    const handlers = makeHandlers({ config, embedder, history, problem, telemetry });
    if (config.metricsPort !== null && figures !== null) {
      const { openMetricsEndpoint } = await import('./metrics-endpoint.js');
      const address = { host: config.metricsHost, port: config.metricsPort };
      const opening = openMetricsEndpoint(address, figures.registry);
      const endpoint = await (parts.isChild
        ? opening.catch((error) => goWithout(error, telemetry))
        : opening);
      if (endpoint !== null) closings.push(() => endpoint.close());
    }
    const server = await serveEmbedding({ handlers, socketPath: config.socketPath }).catch((error) => {
      // A child's path is its parent's choice, from the data folder.
      throw error instanceof SocketPathFailure && !parts.isChild
        ? new ConfigError(CONFIG_VARIABLES.socketPath, config.socketPath, error.message)
        : error;
    });
    closings.push(() => server.close());
    setServing = (isServing) => server.setServing(isServing);
    watched?.watch();
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

function goWithout(error: Error, telemetry: SidecarTelemetry): null {
  telemetry.said('warn', 'metrics_not_served', 'the figures for Prometheus are not served; all else is', {
    reason: error.message,
  });
  return null;
}

interface HandlerParts {
  config: SidecarConfig;
  embedder: Embedder;
  history: PromptHistory;
  /** Why the history does not serve; null: it does. */
  problem: () => string | null;
  telemetry: SidecarTelemetry;
}

function makeHandlers({ config, embedder, history, problem, telemetry }: HandlerParts): EmbeddingHandlers {
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
      store_problem: problem(),
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

/** @param setServing keeps the health of the embedding service true to its store */
function watchStore(
  history: PromptHistory,
  telemetry: SidecarTelemetry,
  setServing: (isServing: boolean) => void,
): WatchedHistory {
  return new WatchedHistory({
    history,
    timer: systemTimer,
    onServing: (problem) => {
      setServing(problem === null);
      if (problem === null) telemetry.said('info', 'store_back', 'the store of prompts answers again');
      else
        telemetry.said('error', 'store_lost', 'the store of prompts does not answer; checks fail open', {
          detail: problem,
        });
    },
  });
}
