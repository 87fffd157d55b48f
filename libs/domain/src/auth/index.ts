/** Access without I/O: secrets and their hashes, tenants an operator may act for, origins, login throttling. */
export * from './credential-headers.js';
export * from './login-throttle.js';
export * from './network.js';
export * from './origin.js';
export * from './secret.js';
export * from './tenancy.js';
