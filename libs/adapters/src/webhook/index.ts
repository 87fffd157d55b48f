export type { IsPublic, Resolve } from './checked-lookup.js';
export * from './webhook-sender.js';
