export * from './log-output.js';
