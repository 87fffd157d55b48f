/** Import from here; client.ts explains use. */

export * from './agents';
export * from './channels';
export * from './client';
export * from './commands';
export * from './config';
export * from './field-errors';
export { gatewayNowMs } from './gateway-clock';
export * from './me';
export * from './query-client';
export { readOlder } from './read-older';
export { showAnswer } from './show-answer';
export * from './system';
export * from './use-pages';
export { withoutSent } from './without-sent';
