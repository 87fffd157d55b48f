export * from './build-decision-log.js';
export * from './build-llm-call.js';
export * from './build-store-rows.js';
export * from './counting-ids.js';
export * from './documented-settings.js';
export * from './fake-clock.js';
export * from './scripted-redis.js';
export * from './scripted-upstream.js';
