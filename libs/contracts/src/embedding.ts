/** What gateway and sidecar say to each other, free of the schemas' library: the sidecar starts without it. */
export * from './ports/embedder.js';
export * from './ports/embedding-service.js';
export * from './ports/prompt-history.js';
export * from './similarity.js';
