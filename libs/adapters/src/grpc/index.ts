export { EMBEDDING_SERVICE, MESSAGE_BYTES_MAX, TEXT_BYTES_MAX } from './embedding-proto.js';
export { toSidecarFailure } from './failure-status.js';
export { type ProbeHealthOptions, probeHealth, type ServingState } from './probe-health.js';
export {
  type CallContext,
  type EmbeddingHandlers,
  type EmbeddingServer,
  type ServeEmbeddingOptions,
  serveEmbedding,
} from './serve-embedding.js';
export { SidecarClient, type SidecarClientOptions } from './sidecar-client.js';
export { SOCKET_PATH_BYTES_MAX, SocketPathFailure } from './socket-file.js';
