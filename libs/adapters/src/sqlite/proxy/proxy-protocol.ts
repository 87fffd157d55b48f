/** What SqliteProxyStore says to the database's threads and what they answer; a part of ../protocol.ts. */
import type {
  AgentReactivation,
  AlertDelivery,
  CallDecision,
  DocumentKey,
  DocumentKind,
  DocumentWrite,
  Incident,
  LlmCall,
  SemanticLoopEvent,
  SpendGroup,
} from '#contracts';
import type { PageKeys, Primitive } from '../wire.js';

/** Order in which a call's columns stand in the flat array, after its seq. `body`: see call-body.ts. */
export const CALL_COLUMNS = [
  'tenant_id',
  'call_id',
  'agent_id',
  'session_id',
  'model',
  'decision',
  'failed',
  'started_at_ms',
  'body',
] as const;
export const callWidth = CALL_COLUMNS.length;

/** Order of a spend sum's columns in the flat array. Costs are whole nano-USD, so that no sum drifts. */
export const SPEND_COLUMNS = [
  'tenant_id',
  'hour_ms',
  'agent_id',
  'model',
  'call_count',
  'unpriced_call_count',
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'reasoning_tokens',
  'cost_nano_usd',
] as const;
export const spendWidth = SPEND_COLUMNS.length;
/** The first columns of a sum say what it is the sum of. */
export const SPEND_KEY_WIDTH = 4;
export const SPEND_SUMS = SPEND_COLUMNS.slice(SPEND_KEY_WIDTH);

export const NANO_USD_PER_USD = 1e9;

/** One `appendCalls`, as flat as it can be: nothing nested is cloned on its way. */
export interface CallBatch {
  rowCount: number;
  /** `callWidth` values a call. */
  rows: Primitive[];
  /** What the calls add to the hourly sums, `spendWidth` values a sum. */
  spend: Primitive[];
  /** Of the few calls that have any, in their order: a later one may save what an earlier one deletes. */
  documents: readonly RawDocumentChange[];
  /** Size in memory, about. */
  bytes: number;
}

export interface CallKeys {
  tenantId: string;
  callId?: string | undefined;
  agentId?: string | undefined;
  sessionId?: string | undefined;
  sessionIds?: readonly string[] | undefined;
  model?: string | undefined;
  decision?: CallDecision | undefined;
  decisions?: readonly CallDecision[] | undefined;
  failed?: boolean | undefined;
  fromMs?: number | undefined;
  toMs?: number | undefined;
  limit: number;
  /** Keyset: older than this one; null for the first page. */
  beforeSeq: number | null;
}

export interface SpendKeys {
  tenantId: string;
  group: SpendGroup;
  fromHourMs: number;
  toMs: number;
  agentId?: string | undefined;
  model?: string | undefined;
  limit: number;
}

export type RawCall = Pick<
  LlmCall,
  'seq' | 'call_id' | 'agent_id' | 'session_id' | 'model' | 'decision' | 'started_at_ms'
> & { body: string };
export interface CallsFound {
  rows: RawCall[];
  /** Calls below this seq were not looked at, since enough others were; null where there was no need, or none is left. */
  lookedDownTo: number | null;
}
/** A row whose other columns are in its body, JSON text. */
export interface RawBody {
  seq: number;
  body: string;
}
export interface RawIncident extends RawBody {
  tenant_id: string;
  reactivated_by: string | null;
  reactivated_at_ms: number | null;
}
export interface RawSpend {
  /** Agent, model ("" for none), or the start of the day or hour in epoch ms. */
  key: string | number;
  call_count: number;
  unpriced_call_count: number;
  input_tokens: number;
  cached_input_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  cost_nano_usd: number;
}
export interface RawAgentSpend {
  tenant_id: string;
  agent_id: string;
  hour_ms: number;
  cost_nano_usd: number;
  unpriced_call_count: number;
}
export interface RawDocument {
  tenant_id: string;
  kind: DocumentKind;
  id: string;
  body: string;
  updated_at_ms: number;
}

export interface RawDocumentChange {
  saved: readonly RawDocument[];
  deleted: readonly DocumentKey[];
}

export interface RawDocumentWrite extends RawDocumentChange, Required<Pick<DocumentWrite, 'audit'>> {
  reactivated: AgentReactivation | null;
}

/** The rare writes. Arguments must be JSON values. */
export interface ProxyWriteCalls {
  /** An incident that is there already stays as it is. @returns its seq */
  appendIncident(tenantId: string, incident: Incident): number;
  /** @returns its seq */
  appendSemanticLoop(tenantId: string, event: SemanticLoopEvent): number;
  /** @returns its seq: the first one's, if it is there already */
  saveDelivery(delivery: AlertDelivery): number;
  /** What is both saved and deleted is gone. */
  commitDocuments(write: RawDocumentWrite): void;
  /** The same where the audit has a line of it: what an operator did, or what stopped an agent. */
  commitAudited(write: RawDocumentWrite): void;
}

export interface ProxyReadCalls {
  /** Newest first. */
  calls(keys: CallKeys): CallsFound;
  spend(keys: SpendKeys): RawSpend[];
  spendByAgent(fromHourMs: number): RawAgentSpend[];
  incidents(tenantId: string, agentId: string | null, isOpen: boolean | null, page: PageKeys): RawIncident[];
  incident(tenantId: string, incidentId: string): RawIncident | null;
  openIncidents(): RawIncident[];
  semanticLoops(tenantId: string, sessionId: string | null, page: PageKeys): RawBody[];
  deliveries(tenantId: string, state: string | null, channelId: string | null, page: PageKeys): RawBody[];
  delivery(tenantId: string, deliveryId: string): RawBody | null;
  pendingDeliveries(): RawBody[];
  documents(kind: DocumentKind): RawDocument[];
}
