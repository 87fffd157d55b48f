export * from './build-decision-log.js';
export * from './build-store-rows.js';
