/**
 * The proto of the embedding service, loaded at run time, and its messages as they come out of it: wire spelling,
 * enums by name, 64-bit numbers as numbers. The file of the contracts is the only description of the wire.
 */
import { createRequire } from 'node:module';
import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

export const EMBEDDING_SERVICE = 'observatory.embedding.v1.EmbeddingService';

/**
 * Most bytes of one text, in UTF-8. Embedders read far less of it, and a client must not send more: a message past
 * `MESSAGE_BYTES_MAX` ends the stream that carries it, and with it every other call on its way.
 */
export const TEXT_BYTES_MAX = 1024 * 1024;

/** What the transport takes at all; beyond it RESOURCE_EXHAUSTED. */
export const MESSAGE_BYTES_MAX = 2 * TEXT_BYTES_MAX;

export type FitnessName = 'FIT' | 'EMPTY' | 'UNKNOWN_TOKENS';

export interface CheckLoopRequest {
  tenant_id: string;
  prompt: string;
  session_id: string;
  request_id: string;
  threshold?: number;
  agent_id?: string;
}

export interface CheckLoopResponse {
  loop_detected: boolean;
  max_similarity: number;
  similar_prompt: string;
  similar_request_id: string;
  compared_count: number;
  similar_count: number;
  fitness: FitnessName;
  vetoed_by: string;
  model_id: string;
  threshold: number;
  further: readonly { prompt: string; request_id: string }[];
}

export interface EmbedRequest {
  text: string;
}

export interface EmbedResponse {
  vector: Uint8Array;
  model_id: string;
  fitness: FitnessName;
}

export interface DescribeResponse {
  model_id: string;
  dimension: number;
  tokens_max: number;
  loop_similarity_threshold: number;
  cache_cosine_threshold: number;
  strict_gate: boolean;
  store: string;
  history_size: number;
  ttl_s: number;
  checks_total: number;
  loops_total: number;
  failures_total: number;
  queued: number;
  uptime_s: number;
  store_problem: string;
}

/** One of the bodies is set; a stranger's frame may hold none. */
export interface RequestFrame {
  id: number;
  timeout_ms: number;
  traceparent: string;
  check_loop?: CheckLoopRequest | null;
  embed?: EmbedRequest | null;
}

export interface ReplyFrame {
  id: number;
  check_loop?: CheckLoopResponse | null;
  embed?: EmbedResponse | null;
  failure?: { code: number; message: string } | null;
}

interface EmbeddingServiceDefinition extends ServiceDefinition {
  CheckLoop: MethodDefinition<CheckLoopRequest, CheckLoopResponse>;
  Embed: MethodDefinition<EmbedRequest, EmbedResponse>;
  Exchange: MethodDefinition<RequestFrame, ReplyFrame>;
  Describe: MethodDefinition<Record<string, never>, DescribeResponse>;
}

const protoFile = createRequire(import.meta.url).resolve('#proto/observatory/embedding/v1/embedding.proto');

export const embeddingService = loadSync(protoFile, {
  keepCase: true,
  longs: Number,
  enums: String,
  defaults: true,
  oneofs: true,
})[EMBEDDING_SERVICE] as unknown as EmbeddingServiceDefinition;
