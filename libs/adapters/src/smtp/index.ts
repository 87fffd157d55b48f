export * from './smtp-sender.js';
