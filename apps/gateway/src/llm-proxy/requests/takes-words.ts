/** Whether a request can carry words of ours. Tried on a copy: what cannot be changed goes to the upstream as it came. */
import type { ProxyCall } from '../proxy-call.js';

export function takesWords(call: ProxyCall, words: string): boolean {
  if (call.dialect === null) return false;
  try {
    const request = call.parsedBody();
    return call.dialect.injectSystem(request, words) !== request;
  } catch {
    return false;
  }
}
