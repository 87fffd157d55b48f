/** Which of the gateways on one Redis this is: the one with this database, before a restart and after it. */
import type { DecisionStore } from '#contracts';
import type { IdSource } from '#kernel';

const SETTING = 'gateway_id';

/** Rejects as the store does when it is read; one that takes no id is asked again at the next start, and has another by then. */
export async function gatewayIdOf(
  store: Pick<DecisionStore, 'settings' | 'saveSettings'>,
  ids: IdSource,
): Promise<string> {
  const known = (await store.settings()).get(SETTING);
  if (typeof known === 'string') return known;
  const id = ids.next();
  await store.saveSettings(new Map([[SETTING, id]])).catch(() => {});
  return id;
}
