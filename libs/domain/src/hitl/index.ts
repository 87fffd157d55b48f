export * from './audit-chain.js';
export * from './command-body.js';
export * from './control-state.js';
export * from './decide-ask.js';
export * from './directives.js';
export * from './rewrite-held.js';
