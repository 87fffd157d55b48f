export * from './brand.js';
export * from './canonical-json.js';
export * from './clock.js';
export * from './deferred.js';
export * from './ids.js';
export * from './oldest-entry.js';
export * from './ring-buffer.js';
export * from './ttl-lru.js';
