/**
 * The running gateway: builds the Nest application, adds what goes around Nest (ingest route, sockets, the
 * dashboard's files), brings back what the store knows, listens, and drains in order.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import type { AgentPrincipal, DecisionStore, SpanSink } from '#contracts';
import { LIMITS } from '#contracts';
import { cannotListen, randomIds, steadyClock } from '#kernel';
import { AlertsArea } from './alerts/alerts.area.js';
import { appModule } from './app.module.js';
import { AUTHENTICATOR, type Authenticator } from './auth/authenticator.js';
import { BOOTSTRAP, type Bootstrap } from './auth/bootstrap.js';
import { CREDENTIALS, type CredentialDirectory } from './auth/credential-directory.js';
import type { StartSettings } from './config/config.module.js';
import { CONFIG_VARIABLES } from './config/env.js';
import type { RuntimeConfigStore } from './config/runtime-config-store.js';
import { pageUrl, serveDashboard } from './dashboard.js';
import { DecisionLogArea } from './decision-log/decision-log.area.js';
import { type IngestRefusal, ingestRoute } from './decision-log/ingest.route.js';
import { IngestRate } from './decision-log/ingest-rate.js';
import { KnownSenders } from './decision-log/known-senders.js';
import { refuseMalformed } from './errors/refuse-malformed.js';
import { API_HEADERS, registerSecurityHeaders } from './errors/security-headers.js';
import { createSendError } from './errors/send-error.js';
import { FairShare } from './fair-share.js';
import { type FastLane, openFastLane } from './fast-lane/fast-lane.js';
import { Descriptors } from './health/descriptors.js';
import { DRAIN, type Drain } from './health/drain.js';
import { watchConnections } from './health/watched-connections.js';
import { CONTROL_DESK } from './hitl/control-desk.js';
import { HitlDesk } from './hitl/hitl-desk.js';
import { LlmCacheArea } from './llm-cache/llm-cache.area.js';
import { LlmProxyArea } from './llm-proxy/llm-proxy.area.js';
import { lostCallRoute } from './llm-proxy/lost-call.route.js';
import type { ProxyRoute } from './llm-proxy/proxy-route.js';
import { createAnswerError, createSendRawError, type RawRoute, serverFactory } from './raw-routes.js';
import { LiveHub } from './realtime/live-hub.js';
import { PartialMessages } from './realtime/partial-messages.js';
import { RealtimeEvents } from './realtime/realtime-events.js';
import { boundBodies } from './request-bodies.js';
import { SemanticLoopArea } from './semantic-loop/semantic-loop.area.js';
import { shareControl } from './shared-control/share-control.js';
import type { SharedControl } from './shared-control/shared-control.js';
import { openSockets, type Sockets } from './sockets.js';
import { NestLogger } from './telemetry/nest-logger.js';
import { METRICS, RUNTIME_CONFIG, SPANS, STORE } from './tokens.js';

/** Headers and first byte of a request; bodies have a limit of their own. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Calls under way get this long to end, and no more than half of what the whole takes; held ones are told at once. */
const PROXY_DRAIN_MS_MAX = 5_000;
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/** Connections that the system keeps until they are looked at; it may allow less. Node's 511 are few for a fleet that comes back at once. */
const BACKLOG_MAX = 8_192;
const LISTEN_SETTINGS = {
  hostVariable: CONFIG_VARIABLES.host,
  portVariable: CONFIG_VARIABLES.port,
  freePort: 4000,
};

export interface Gateway {
  /** Where it listens, such as `http://127.0.0.1:4000`. */
  url: string;
  /** Plain secrets known to this process; see `Bootstrap`. */
  bootstrap: Bootstrap;
  /** Finishes what is under way and closes the store; never rejects. */
  drain(): Promise<void>;
}

/** @throws what the store or the port says against starting; everything opened by then is closed */
export async function startGateway(settings: StartSettings, logger: Logger): Promise<Gateway> {
  const { config } = settings;
  const place = { port: config.port, host: config.host };
  // A first start shows the credentials that it makes once it listens: where it cannot, it is to make none.
  await tryToListen(place).catch((error: unknown) => {
    throw cannotListen(error, config, LISTEN_SETTINGS);
  });
  const sendError = createSendError({ logger, ids: randomIds });
  const rawRoutes: RawRoute[] = [];
  const adapter = new FastifyAdapter({
    serverFactory: serverFactory(rawRoutes),
    bodyLimit: config.bodyBytesMax,
    // The one in front: what stands in X-Forwarded-For before its own entry anybody may have written.
    trustProxy: config.trustProxy && ((_address, hop) => hop === 0),
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    forceCloseConnections: 'idle',
    rewriteUrl: pageUrl,
    routerOptions: { maxParamLength: LIMITS.idCharsMax },
    clientErrorHandler: refuseMalformed,
    // Of a request that never came to a route.
    frameworkErrors: (error: unknown, _request: unknown, reply: FastifyReply) =>
      sendError(reply.headers(API_HEADERS), error),
  });
  const app = await NestFactory.create<NestFastifyApplication>(appModule(settings, logger), adapter, {
    logger: new NestLogger(logger),
    abortOnError: false,
    bodyParser: false,
  });
  const drain = app.get<Drain>(DRAIN);
  const store = app.get<DecisionStore>(STORE);
  try {
    const parts = await assemble(app, settings, logger, rawRoutes);
    await app.listen({ ...place, backlog: BACKLOG_MAX }).catch((error: unknown) => {
      throw cannotListen(error, config, LISTEN_SETTINGS);
    });
    app.get(Descriptors).watch(app.getHttpServer());
    parts.semanticLoop.startSidecar();
    planDrain(app, drain, parts, config.drainTimeoutMs);
  } catch (error) {
    await store.close();
    throw error;
  }
  return {
    url: await app.getUrl(),
    bootstrap: app.get<Bootstrap>(BOOTSTRAP),
    drain: async () => {
      for (const { name, outcome, error } of await drain.start()) {
        if (outcome !== 'done')
          logger.error({ event: 'drain_step', step: name, outcome, err: error }, 'drain step did not finish');
      }
    },
  };
}

/** Rejects as `listen` does. */
async function tryToListen(place: { port: number; host: string }): Promise<void> {
  const server = createServer().listen(place);
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}

interface Parts {
  hub: LiveHub;
  alerts: AlertsArea;
  area: DecisionLogArea;
  desk: HitlDesk;
  proxy: LlmProxyArea;
  proxyRoute: ProxyRoute;
  semanticLoop: SemanticLoopArea;
  llmCache: LlmCacheArea;
  shared: SharedControl | null;
  store: DecisionStore;
  sockets: Sockets;
  closeUnused: () => void;
  lane: FastLane;
}

async function assemble(
  app: NestFastifyApplication,
  { config }: StartSettings,
  logger: Logger,
  rawRoutes: RawRoute[],
): Promise<Parts> {
  const fastify = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
  const authenticator = app.get<Authenticator>(AUTHENTICATOR);
  const area = app.get(DecisionLogArea);
  const desk = app.get<HitlDesk>(CONTROL_DESK);
  const hub = app.get(LiveHub);
  const store = app.get<DecisionStore>(STORE);
  const drain = app.get<Drain>(DRAIN);
  const refusal = (tenantId: string): IngestRefusal | null =>
    drain.isDraining ? 'draining' : store.refusal(tenantId);

  for (const warning of app.get<RuntimeConfigStore>(RUNTIME_CONFIG).effective().warnings)
    logger.warn({ event: 'setting_unusable' }, warning);

  // One for both ways in: a key has one allowance.
  const rate = new IngestRate({
    clock: steadyClock,
    logsPerSecondMax: config.ingestLogsPerSecondMax,
  });

  // So are these. Who gets nothing is counted with all that is refused.
  const bodyBytes = new FairShare({ max: LIMITS.inflightBytesMax, onFull: () => {} });
  const answerError = createAnswerError({ logger, ids: randomIds });
  const sendRawError = createSendRawError(answerError);

  registerSecurityHeaders(fastify);
  boundBodies(fastify, authenticator);
  const authenticate = (authorization: string | undefined, key: string | undefined) =>
    authenticator.agent(authorization, key);
  const isInForce = (principal: AgentPrincipal) => authenticator.isInForce(principal);
  const ingest = ingestRoute({
    authenticate,
    isInForce,
    senders: new KnownSenders({ authenticate, isInForce, clock: steadyClock }),
    interceptor: area.interceptor,
    refusal,
    rate,
    limits: config,
    bodyBytes,
    answerError,
    events: area.events,
  });
  rawRoutes.push(ingest);
  const lane = openFastLane(app.getHttpServer(), {
    routes: [ingest],
    idleMs: KEEP_ALIVE_TIMEOUT_MS,
    firstRequestMs: REQUEST_TIMEOUT_MS,
  });
  await serveDashboard(fastify);

  const proxy = app.get(LlmProxyArea);
  const proxyRoute = proxy.route(authenticator, () => drain.isDraining);
  rawRoutes.push(proxyRoute, lostCallRoute());

  await area.recover();
  await proxy.recover(area.registry);
  const semanticLoop = app.get(SemanticLoopArea);
  await semanticLoop.recover();
  desk.connect(area.sessions);

  const events: RealtimeEvents = new RealtimeEvents(
    logger,
    app.get(METRICS),
    () => sockets.live.subscriberCount,
  );
  const partial = new PartialMessages({
    bodyBytes,
    sendError: sendRawError,
    onRefused: (reason) => events.messageRefused(reason),
  });
  const sockets = openSockets({
    http: app.getHttpServer(),
    config,
    authenticator,
    hub,
    partial,
    events,
    agents: {
      interceptor: area.interceptor,
      refusal,
      rate,
      bodyBytes,
      events: area.events,
      desk,
      onFailed: (error) =>
        logger.error({ event: 'agent_socket_failed', err: error }, 'a message on /agents failed'),
    },
  });
  await hub.start((tenantId, frame) => sockets.live.send(tenantId, frame));
  area.start(hub, () => sockets.live.subscriberCount);
  const alerts = app.get(AlertsArea);
  const watch = () =>
    area.watch({
      step: (key, step) => {
        alerts.sessions.noteStep(step);
        proxy.feed.noteReported(key, step);
      },
      control: (key, control) => alerts.sessions.noteControl(key, control),
    });
  const known = {
    sessions: area.registry,
    paused: () => desk.paused(),
    policyBar: (tenantId: string, agentId: string) => proxy.policyBar(tenantId, agentId),
    spentUsd: (tenantId: string, agentId: string | null) => proxy.spentUsd(tenantId, agentId),
  };
  await alerts.start(hub, known, watch);
  proxy.start(hub, area.interceptor, area.registry);
  semanticLoop.start(hub);
  const shared = await shareControl(app, { proxy, desk, store, logger });
  desk.startClock();
  const llmCache = app.get(LlmCacheArea);
  const closeUnused = watchConnections(app.getHttpServer(), config.upstreamIdleTimeoutMs);
  return {
    hub,
    alerts,
    area,
    desk,
    proxy,
    proxyRoute,
    semanticLoop,
    llmCache,
    shared,
    store,
    sockets,
    closeUnused,
    lane,
  };
}

/** In this order: nothing new comes in, what waits is told, what was taken is saved. */
function planDrain(app: NestFastifyApplication, drain: Drain, parts: Parts, timeoutMs: number): void {
  drain.onDrain('control polls', () => parts.desk.drain());
  // Those that do not end by then are broken off by us: were the deadline first, it would look as if their upstreams had failed.
  drain.onDrain('proxied calls', () => parts.proxyRoute.drain(Math.min(PROXY_DRAIN_MS_MAX, timeoutMs / 2)));
  drain.onDrain('live feeds', () => parts.hub.stop());
  drain.onDrain('sockets', () => parts.sockets.close());
  drain.onDrain('requests', () => {
    parts.closeUnused();
    parts.lane.close();
    return app.close();
  });
  drain.onDrain('shared control', () => parts.shared?.stop());
  drain.onDrain('proxy', () => parts.proxy.stop());
  drain.onDrain('LLM cache', () => parts.llmCache.stop());
  drain.onDrain('semantic loops', () => parts.semanticLoop.stop());
  drain.onDrain('sessions', () => parts.area.stop());
  drain.onDrain('alerts', () => parts.alerts.stop());
  drain.onDrain('credentials', () => app.get<CredentialDirectory>(CREDENTIALS).stop());
  drain.onDrain('spans', () => app.get<SpanSink | null>(SPANS)?.close());
  drain.onDrain('store', () => parts.store.close());
}
