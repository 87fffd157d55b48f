export * from './name-lookup.js';
