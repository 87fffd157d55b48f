export { forwardProxyFailure } from './through-proxy.js';
export * from './upstream-client.js';
