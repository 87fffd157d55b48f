/**
 * Live topics over Socket.IO. Names live here only.
 *
 *     client: emit('subscribe', {topic, after_seq?}, ack)     ack: snapshot | deltas | reset | error
 *     server: emit('frame', {topic, from_seq, to_seq, events: [{seq, payload}]})   contiguous per topic
 *
 * A topic's sequence ascends without a gap while the process lives, and never goes back across restarts.
 */
import { z } from 'zod';
import type { AgentView, AllAgentsView } from './agent-view.js';
import type { AlertDelivery } from './alerting.js';
import type { AlertGroup, RaisedAlert, StepView, ViolationEvent } from './decision-log.js';
import type { Incident } from './kill-switch.js';
import type { LlmCall } from './llm-call.js';
import type { StoredStep } from './ports/store.js';
import type { SemanticLoopEvent } from './semantic-loop.js';
import type { SessionDetail, SessionEvent, SessionView } from './session.js';
import type { TopologyChange } from './topology.js';

export const NAMESPACES = { operators: '/live', agents: '/agents' } as const;

export const TOPICS = {
  messages: 'gateway:messages',
  violations: 'gateway:violations',
  topology: 'gateway:topology',
  entropyAlerts: 'gateway:entropy_alerts',
  incidents: 'gateway:incidents',
  /** Session rows, coalesced: one per changed session and batch. */
  sessions: 'gateway:sessions',
  /** One `GatewayStats` a second. */
  stats: 'gateway:stats',
  /** Proxied calls as they end. */
  calls: 'gateway:calls',
  /** Agents known to the proxy, coalesced: one view per changed agent and second. */
  agents: 'gateway:agents',
  /** All agents taken together: one view a second while it changes. */
  allAgents: 'gateway:all_agents',
  /** Alert deliveries as their state changes. */
  deliveries: 'gateway:deliveries',
  /** Semantic loops as they are found; leave at once. */
  semanticLoops: 'gateway:semantic_loops',
} as const;
export type GatewayTopic = (typeof TOPICS)[keyof typeof TOPICS];
export type SessionTopic = `session:${string}`;
export type Topic = GatewayTopic | SessionTopic;

export const sessionTopic = (sessionId: string): SessionTopic => `session:${sessionId}`;

/** Health of this gateway over the last second, for Fleet Command. */
export interface GatewayStats {
  at_ms: number;
  logs_per_second: number;
  violations_per_second: number;
  /** Ingest, request received to answer handed to the socket, over the last 10 s; null without traffic. */
  ingest_p50_ms: number | null;
  ingest_p95_ms: number | null;
  /** Sessions that are not over. */
  live_session_count: number;
  subscriber_count: number;
  store_queue_count: number;
}

/** `is_deleted`: retention has deleted the session; the row is as it was last. */
export type SessionRow = SessionView & { is_deleted?: true };

/** Topic -> what its snapshot holds and what its events carry. */
export interface TopicShapes {
  /** Snapshot: newest last, at most 200. Published as the store has it: a view is made for those who look. */
  'gateway:messages': { snapshot: StepView[]; event: StepView; published: StoredStep };
  'gateway:violations': { snapshot: ViolationEvent[]; event: ViolationEvent };
  'gateway:topology': { snapshot: TopologyChange; event: TopologyChange };
  /** Snapshot: one group per session that still is in `loop`, or is paused after an alert; newest alert first. */
  'gateway:entropy_alerts': { snapshot: AlertGroup[]; event: RaisedAlert };
  /** Snapshot: the latest 50, newest first. An event replaces the incident with its id, or is a new one. */
  'gateway:incidents': { snapshot: Incident[]; event: Incident };
  /** Snapshot: newest last, at most 200. */
  'gateway:calls': { snapshot: LlmCall[]; event: LlmCall };
  /** Snapshot: by agent id; of more than `listedAgentsMax` those that want somebody, then those that called last. */
  'gateway:agents': { snapshot: AgentView[]; event: AgentView };
  'gateway:all_agents': { snapshot: AllAgentsView; event: AllAgentsView };
  /** Snapshot: the latest 50, newest first. */
  'gateway:deliveries': { snapshot: AlertDelivery[]; event: AlertDelivery };
  /** Snapshot: the latest 50, and the first and the latest of each session whose alert is open; newest first. */
  'gateway:semantic_loops': { snapshot: SemanticLoopEvent[]; event: SemanticLoopEvent };
  /** Snapshot: most recently seen first. */
  'gateway:sessions': { snapshot: SessionView[]; event: SessionRow };
  /** Snapshot: the last 120 s, oldest first. Empty for the first to look before a tenant's first message: a second later it begins. */
  'gateway:stats': { snapshot: GatewayStats[]; event: GatewayStats };
  [topic: SessionTopic]: { snapshot: SessionDetail; event: SessionEvent };
}

/** What a publisher hands over. */
export type Published<T extends Topic> = TopicShapes[T] extends { published: infer P }
  ? P
  : TopicShapes[T]['event'];

export const subscribeSchema = z.object({
  topic: z.string().min(1).max(300),
  /** Last sequence number seen. Absent: a snapshot. */
  after_seq: z.number().int().nonnegative().optional(),
});

export interface LiveEvent<P = unknown> {
  seq: number;
  payload: P;
}

export type SubscribeAck<S = unknown, P = unknown> =
  /** First subscription: `snapshot` is the state as of `seq`. */
  | { status: 'ok'; kind: 'snapshot'; topic: string; seq: number; snapshot: S }
  /** Everything after `after_seq`, possibly nothing. */
  | { status: 'ok'; kind: 'deltas'; topic: string; seq: number; events: LiveEvent<P>[] }
  /** `after_seq` is too old or from elsewhere: drop what you have, start from `snapshot`. */
  | { status: 'ok'; kind: 'reset'; topic: string; seq: number; snapshot: S }
  | { status: 'error'; reason: string; detail: string };

export interface Frame<P = unknown> {
  topic: string;
  /** Sequence number of the first and of the last event; `from_seq` is the previous frame's `to_seq` + 1. */
  from_seq: number;
  to_seq: number;
  events: LiveEvent<P>[];
}

/** Each socket hears a ping of Socket.IO this often: what is silent for longer than twice that is not live. */
export const PING_EVERY_MS = 5_000;

/** Server -> client event names beside Socket.IO's own. */
export const LIVE_EVENTS = {
  frame: 'frame',
  /**
   * Sent just before a cut: `{reason: 'consumer_too_slow'}`; reconnect and subscribe with `after_seq`. Where a message came
   * for which there is no room: `too_many_bytes`; one in several parts, as of binary data: `unsupported_media_type`. Where the
   * key, token or login is in force no longer: `unauthorized`. Where the gateway ends: `draining`.
   */
  cut: 'cut',
  control: 'control',
  decisionLog: 'decision_log',
  /** Agent -> server: `{session_id}`, to hear its control before its first log. */
  watchControl: 'watch_control',
} as const;
