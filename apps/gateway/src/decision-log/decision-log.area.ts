/**
 * Puts the ingest path together: who scores, who stores, who publishes. The one place that constructs the
 * entropy tracker, and it hands the writer to the interceptor alone.
 */
import { getHeapStatistics } from 'node:v8';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import {
  type ControlView,
  type DecisionStore,
  type LiveAudience,
  type LivePublisher,
  type ProxyStore,
  type RuntimeConfigSource,
  type SessionKey,
  type StoredStep,
  sessionKey,
  sessionTopic,
  splitSessionKey,
  TOPICS,
  tenantIdOf,
} from '#contracts';
import { EntropyTracker } from '#domain/entropy/writer';
import type { Clock, IdSource } from '#kernel';
import type { ControlDesk } from '../hitl/control-desk.js';
import type { LiveHub } from '../realtime/live-hub.js';
import { AlertBoard, GROUP_COUNT_MAX } from './alert-board.js';
import { EntropyFeed } from './entropy-feed.js';
import { IngestEvents } from './ingest-events.js';
import { Retention } from './retention.js';
import { SampleLoop } from './sample-loop.js';
import { SchemaInterceptor } from './schema-interceptor.js';
import { SessionDetails } from './session-details.js';
import type { SessionDirectory } from './session-directory.js';
import { SessionRegistry } from './session-registry.js';
import { StatsFeed } from './stats-feed.js';
import { StepMemory } from './step-memory.js';
import { StepPublisher } from './step-publisher.js';
import { TopologyFeed } from './topology-feed.js';

/** Session rows in memory; the live list shows ten thousand. */
const SESSION_COUNT_MAX = 20_000;
/** Texts of the entropy windows, in characters, which take a byte or two: an eighth to a quarter of what there is. */
const WINDOW_TEXTS_OF_HEAP = 1 / 8;
/** Their resends are recognised without asking the store. */
const REMEMBERED_STEPS_MAX = 200_000;

export interface DecisionLogDependencies {
  clock: Clock;
  ids: IdSource;
  logger: Logger;
  metrics: Registry;
  config: RuntimeConfigSource;
  store: DecisionStore;
  proxyStore: Pick<ProxyStore, 'semanticLoops'>;
  live: LivePublisher & LiveAudience;
  desk: ControlDesk;
  windowCountMax: number;
  windowIdleMs: number;
}

export class DecisionLogArea {
  readonly registry: SessionRegistry;
  readonly interceptor: SchemaInterceptor;
  readonly sample: SampleLoop;
  readonly events: IngestEvents;
  readonly sessions: SessionDirectory;
  readonly #details: SessionDetails;
  readonly #topology: TopologyFeed;
  readonly #stats: StatsFeed;
  readonly #board: AlertBoard;
  readonly #memory = new StepMemory(REMEMBERED_STEPS_MAX);
  readonly #retention: Retention;
  readonly #store: DecisionStore;
  readonly #publisher: StepPublisher;
  #onControl: (key: SessionKey, control: ControlView) => void = () => {};

  constructor({
    clock,
    ids,
    logger,
    metrics,
    config,
    store,
    proxyStore,
    live,
    desk,
    ...bounds
  }: DecisionLogDependencies) {
    this.#store = store;
    const events: IngestEvents = new IngestEvents(clock, logger, metrics, {
      liveSessions: () => this.registry.size,
      windows: () => tracker.size,
      storeQueue: () => store.queuedCount,
    });
    const warn = (message: string) => events.warn(message);
    this.events = events;
    this.registry = new SessionRegistry({
      clock,
      store,
      live,
      sessionCountMax: SESSION_COUNT_MAX,
      controlOf: (key) => desk.view(key),
      heldKeys: function* () {
        for (const [key] of desk.paused()) yield key;
      },
      onStoreFailed: (error) => events.storeFailed('sessions', error),
    });
    this.#topology = new TopologyFeed(clock, live, warn);
    this.#stats = new StatsFeed(clock, live);
    const onGaveWay = () => events.alertGaveWay(GROUP_COUNT_MAX);
    this.#board = new AlertBoard(clock, (key) => this.registry.peek(key), onGaveWay);
    const tracker: EntropyTracker = new EntropyTracker({
      clock,
      config,
      publisher: new EntropyFeed(live, store, this.#topology, this.#board, events),
      warn,
      onEvicted: (_key, reason) => events.windowEvicted(reason),
      sessionCountMax: bounds.windowCountMax,
      sessionIdleMs: bounds.windowIdleMs,
      textCharsMax: getHeapStatistics().heap_size_limit * WINDOW_TEXTS_OF_HEAP,
    });
    const publisher = new StepPublisher(this.registry, this.#topology, live, this.#stats);
    this.#publisher = publisher;
    this.interceptor = new SchemaInterceptor({
      clock,
      config,
      tracker,
      memory: this.#memory,
      store,
      desk,
      publisher,
      events,
      rows: this.registry,
    });
    this.sample = new SampleLoop(this.interceptor, clock, ids);
    this.#details = new SessionDetails(store, this.registry, tracker, desk, proxyStore);
    this.#retention = new Retention(clock, config, store, events, this.registry);
    this.sessions = {
      find: (key) => this.registry.find(key),
      setControl: (key, control) => {
        const shown = this.registry.setControl(key, control);
        this.#onControl(key, shown);
        if (control.state === 'terminated') this.#endSession(key);
        return shown;
      },
      publishReleased: async (key, steps) => {
        // They are released for good: better a row that starts anew than steps nobody sees.
        if (this.registry.mayHaveLeft(key))
          await this.registry.bringBack(key).catch((error) => events.storeFailed('sessions', error));
        const isTracked = tracker.has(key);
        for (const step of steps) {
          publisher.publish(
            key,
            step,
            isTracked ? tracker.snapshot(key) : this.registry.windowWith(key, step),
          );
          this.registry.noteReleased(step);
        }
        if (!isTracked) this.#showRowOnMap(key);
      },
    };
  }

  /** Brings back rows, alerts, the map as far as the rows tell it, and the memory of steps. Before the first message. */
  async recover(): Promise<void> {
    await this.registry.recover();
    await this.#board.recover(this.#store, this.registry.entries());
    for (const [key, view] of this.registry.entries()) {
      // A step that is held shows nothing yet.
      if (view.step_count > 0) this.#topology.restore(tenantIdOf(key), view);
    }
    /** One text for all steps of a session. */
    const keys = new Map<SessionKey, SessionKey>();
    for (const step of await this.#store.recentStepKeys(REMEMBERED_STEPS_MAX)) {
      const key = sessionKey(step.tenant_id, step.session_id);
      const known = keys.get(key) ?? key;
      keys.set(known, known);
      this.#memory.remember(known, step.trace_id, step.body_hash, null);
    }
  }

  /** Whose window has left, with a restart or by its bound, is told of to the map by its row: the tracker did so when it scored. */
  #showRowOnMap(key: SessionKey): void {
    const row = this.registry.peek(key);
    if (row === undefined || row.ended) return;
    this.#topology.setNodeState(tenantIdOf(key), row.session_id, row.agent_id, row.state);
  }

  /** Who else wants to know: of published steps, and of control. Never throw. */
  watch(watcher: {
    step(key: SessionKey, step: StoredStep): void;
    control(key: SessionKey, control: ControlView): void;
  }): void {
    this.#publisher.onStep = watcher.step;
    this.#onControl = watcher.control;
  }

  start(hub: LiveHub, subscriberCount: () => number): void {
    hub.provideSnapshot(TOPICS.messages, (tenantId) => hub.newest(tenantId, TOPICS.messages, 200));
    hub.provideSnapshot(TOPICS.violations, (tenantId) => hub.newest(tenantId, TOPICS.violations, 200));
    hub.provideSnapshot(TOPICS.stats, (tenantId) => hub.newest(tenantId, TOPICS.stats, 120));
    hub.provideSnapshot(TOPICS.topology, (tenantId) => this.#topology.snapshot(tenantId));
    hub.provideSnapshot(TOPICS.entropyAlerts, (tenantId) => this.#board.open(tenantId));
    hub.provideSnapshot(TOPICS.sessions, (tenantId) => this.registry.snapshot(tenantId));
    const prefix = sessionTopic('');
    hub.provideSnapshot('session:', (tenantId, topic) =>
      this.#details.read(sessionKey(tenantId, topic.slice(prefix.length))),
    );
    this.registry.start();
    this.#topology.start();
    this.#retention.start(this.#newestStoredMs());
    this.#stats.start({
      latency: () => this.events.latency(),
      liveSessionCounts: () => this.registry.liveCounts(),
      subscriberCount,
      storeQueueCount: () => this.#store.queuedCount,
    });
  }

  async stop(): Promise<void> {
    this.#topology.stop();
    this.#stats.stop();
    this.#retention.stop();
    await this.registry.stop();
  }

  #newestStoredMs(): number | null {
    let newestMs: number | null = null;
    for (const [, { last_seen_ms }] of this.registry.entries())
      newestMs = Math.max(newestMs ?? last_seen_ms, last_seen_ms);
    return newestMs;
  }

  #endSession(key: SessionKey): void {
    const { tenantId, sessionId } = splitSessionKey(key);
    this.#topology.endSession(tenantId, sessionId, true);
  }
}
