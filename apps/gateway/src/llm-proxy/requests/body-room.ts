/** Bytes that a call holds in memory, of what all calls together may: given back with the call. */
import type { FairShare } from '../../fair-share.js';
import type { ProxyCall } from '../proxy-call.js';

export interface BodyRoom {
  /** False: for so many bytes there is no room now. */
  fits(byteCount: number): boolean;
  /** False: nothing was taken. */
  take(byteCount: number): boolean;
}

export const roomFor = (call: ProxyCall, bodyBytes: FairShare): BodyRoom => ({
  fits: (byteCount) => bodyBytes.fits(call.tenantId, byteCount),
  take(byteCount) {
    if (!bodyBytes.take(call.tenantId, byteCount)) return false;
    call.bodyBytesTaken += byteCount;
    return true;
  },
});
