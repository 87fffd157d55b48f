/** What the threads of the store need of the contracts, free of the schemas' library: each of them would load it anew. */
export * from './call-outcome.js';
export * from './errors.js';
export * from './ports/proxy-store.js';
export * from './ports/store.js';
export * from './proxied-step.js';
