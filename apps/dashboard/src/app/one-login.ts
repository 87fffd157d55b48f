/**
 * One browser has one login, however many tabs: it is in the cookie that they share. A tab that went on as before, after another
 * signed in as somebody else, would show one tenant and act in the other.
 */
import type { Me } from '#contracts';
import { meQuery, queryClient } from '../api';

const channel = openChannel();

/** Null where the browser gives none: to a page that may keep nothing, no cookie either, which the login will say. */
function openChannel(): BroadcastChannel | null {
  try {
    return new BroadcastChannel('observatory.login');
  } catch {
    return null;
  }
}

/** To be called with each login; who signs out is told by the gateway, which ends the login. */
export const tellOtherTabs = (me: Me): void => channel?.postMessage(me);

/** This tab and all others begin anew as that, since what they show may be another tenant's. */
export function beginAs(me: Me): void {
  tellOtherTabs(me);
  window.location.replace('/');
}

const nameOf = ({ operator_id, role, tenant_id }: Me): string =>
  JSON.stringify([operator_id, role, tenant_id]);

/** Begins anew, and not at an address that may hold the other's ids, once another tab is signed in as somebody else. */
export function followOtherTabs(): void {
  if (channel === null) return;
  channel.onmessage = ({ data }: MessageEvent<Me>) => {
    const me = queryClient.getQueryData(meQuery.queryKey);
    if (me && nameOf(me) !== nameOf(data)) window.location.replace('/');
  };
}

/** For a tab that asks for a login. @returns calls it off */
export function whenSignedInElsewhere(run: () => void): () => void {
  channel?.addEventListener('message', run);
  return () => channel?.removeEventListener('message', run);
}
