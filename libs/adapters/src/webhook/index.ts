export { type IsPublic, type Resolve, systemResolve } from './checked-lookup.js';
export * from './webhook-sender.js';
