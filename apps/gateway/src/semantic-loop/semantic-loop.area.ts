/**
 * Puts semantic loops together: the sidecar and the way to it, what is asked of it, and what follows a loop. A gateway
 * without its sidecar serves; it is started beside the gateway, never before it.
 */
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { SidecarClient } from '#adapters/grpc';
import {
  type EmbeddingService,
  type LivePublisher,
  LOOP_INTERVENTION_DEFAULT,
  type ProxyStore,
  type SystemView,
  TOPICS,
} from '#contracts';
import { LoopLadder } from '#domain/semantic-loop';
import { type Clock, type IdSource, steadyClock, systemTimer } from '#kernel';
import type { AlertMonitor } from '../alerts/alert-monitor.js';
import type { GatewayConfig } from '../config/config.js';
import type { SessionRegistry } from '../decision-log/session-registry.js';
import type { ControlDesk } from '../hitl/control-desk.js';
import type { SemanticLoopParts } from '../llm-proxy/steps/semantic-loop.step.js';
import type { LiveHub } from '../realtime/live-hub.js';
import { ABSENT_EMBEDDING } from './absent-embedding.js';
import { LoopBoard } from './loop-board.js';
import { LoopCheck } from './loop-check.js';
import { LoopDesk } from './loop-desk.js';
import { SemanticLoopEvents } from './semantic-loop-events.js';
import { SidecarProcess } from './sidecar-process.js';
import { SidecarStatus } from './sidecar-status.js';

/** A sidecar that somebody else runs has so long to answer a gateway that starts, before it is said that it does not. */
const FIRST_ANSWER_MS = 1_000;
/** The latest loops in the live snapshot, beside those of open alerts. */
const SNAPSHOT_COUNT = 50;

export interface SemanticLoopDependencies {
  clock: Clock;
  ids: IdSource;
  logger: Logger;
  metrics: Registry;
  config: GatewayConfig;
  /** The LLM cache wants vectors, whether loops are looked for or not. */
  isSidecarShared: boolean;
  /** What the supervised sidecar is started with. */
  sidecarEnvironment: Readonly<Record<string, string>>;
  proxyStore: Pick<ProxyStore, 'appendSemanticLoop' | 'semanticLoops'>;
  live: LivePublisher;
  desk: Pick<ControlDesk, 'pauseBySystem'>;
  alerts: Pick<AlertMonitor, 'note'>;
  sessions: Pick<SessionRegistry, 'introduceLoop' | 'peek' | 'entries'>;
}

export class SemanticLoopArea {
  readonly embedding: EmbeddingService;
  readonly events: SemanticLoopEvents;
  readonly stepParts: Omit<SemanticLoopParts, 'agents'>;
  readonly #config: GatewayConfig;
  /** Null: it is not ours. */
  readonly #process: SidecarProcess | null;
  #client: SidecarClient | null = null;
  readonly #status: SidecarStatus;
  readonly #desk: LoopDesk;
  readonly #board: LoopBoard;
  readonly #sessions: Pick<SessionRegistry, 'entries'>;
  readonly #store: Pick<ProxyStore, 'semanticLoops'>;
  #isStopping = false;

  constructor(parts: SemanticLoopDependencies) {
    const { clock, ids, config, proxyStore, live, desk, alerts, sessions } = parts;
    this.#config = config;
    this.#store = proxyStore;
    const isNeeded = config.isLoopDetectionEnabled || parts.isSidecarShared;
    const ladder = new LoopLadder({ clock });
    this.events = new SemanticLoopEvents(steadyClock, parts.logger, parts.metrics, {
      ladderSessions: () => ladder.sessionCount,
      ladderEvicted: () => ladder.evictedCount,
      alertsEvicted: () => this.#board.evictedCount,
      isSidecarReady: () => this.embedding.isReady,
      sidecarRestarts: () => this.#process?.state.restart_count ?? 0,
    });
    const isSupervised = isNeeded && config.embeddingSidecarSocket === null;
    this.#process = isSupervised ? makeProcess(parts, () => this.#client?.connectNow()) : null;
    this.#client = isNeeded ? this.#connect() : null;
    this.embedding = this.#client ?? ABSENT_EMBEDDING;
    this.#status = new SidecarStatus({
      service: isNeeded ? this.embedding : null,
      supervised: this.#process,
      clock,
    });
    const { events } = this;
    this.#sessions = sessions;
    this.#board = new LoopBoard(clock, (key) => sessions.peek(key));
    const board = this.#board;
    this.#desk = new LoopDesk({
      ladder,
      store: proxyStore,
      live,
      board,
      alerts,
      desk,
      sessions,
      ids,
      timer: systemTimer,
      events,
    });
    this.stepParts = {
      isEnabled: config.isLoopDetectionEnabled,
      check: new LoopCheck({
        service: this.embedding,
        timeoutMs: config.embeddingSidecarTimeoutMs,
        loopWhenSimilarityAbove: config.loopWhenSimilarityAbove,
        clock,
        events: this.events,
      }),
      desk: this.#desk,
      events: this.events,
      hint: config.loopInterventionMessage ?? LOOP_INTERVENTION_DEFAULT,
    };
  }

  /** Before the first call, with the sessions in memory. Rejects as the store does. */
  recover(): Promise<void> {
    return this.#board.recover(this.#store, this.#sessions.entries());
  }

  start(hub: LiveHub): void {
    hub.provideSnapshot(TOPICS.semanticLoops, async (tenantId) => {
      const { items } = await this.#store.semanticLoops({ tenant_id: tenantId, limit: SNAPSHOT_COUNT });
      const latestIds = new Set(items.map(({ event_id }) => event_id));
      const open = this.#board.open(tenantId).filter(({ event_id }) => !latestIds.has(event_id));
      return [...items, ...open].sort((a, b) => b.at_ms - a.at_ms);
    });
  }

  /** Once the gateway listens: it does not wait for its sidecar, and does not share its first moments with it. */
  startSidecar(): void {
    if (this.#process !== null) this.#process.start();
    else if (this.#client !== null) this.#sayIfAbsent();
  }

  /** Where nobody ever listened nothing changes, and the first to hear of it would be a call that goes on without its check. */
  #sayIfAbsent(): void {
    const look = () => {
      if (!this.embedding.isReady && !this.#isStopping) this.events.sidecarAbsent(this.#socketPath);
    };
    setTimeout(look, FIRST_ANSWER_MS).unref();
  }

  /** After the last call: what was found is kept. Never rejects. */
  async stop(): Promise<void> {
    await this.#desk.stop();
    this.#isStopping = true;
    await this.embedding.close();
    await this.#process?.stop();
  }

  /** Resolves when every loop found so far is kept, shown and acted on. */
  settled(): Promise<void> {
    return this.#desk.settled();
  }

  async view(): Promise<Pick<SystemView, 'sidecar' | 'semantic_loop'>> {
    return {
      sidecar: await this.#status.view(),
      semantic_loop: { ...this.events.view(), timeout_ms: this.#config.embeddingSidecarTimeoutMs },
    };
  }

  get #socketPath(): string {
    return this.#process?.socketPath ?? resolve(this.#config.embeddingSidecarSocket as string);
  }

  #connect(): SidecarClient {
    return new SidecarClient({
      socketPath: this.#socketPath,
      onState: (isReady) => {
        this.#status.noteChanged(isReady);
        this.#process?.noteReached(isReady);
        if (!this.#isStopping) this.events.sidecarChanged(isReady);
      },
    });
  }
}

function makeProcess(parts: SemanticLoopDependencies, onServing: () => void): SidecarProcess {
  const { clock, logger, config, sidecarEnvironment } = parts;
  return new SidecarProcess({
    dataDir: config.dataDir,
    environment: sidecarEnvironment,
    logger,
    clock,
    onState: ({ state }) => {
      if (state === 'serving') onServing();
    },
  });
}
