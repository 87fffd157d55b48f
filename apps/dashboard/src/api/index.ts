/** Import from here; client.ts explains use. */
export * from './client';
export * from './commands';
export * from './me';
export * from './query-client';
