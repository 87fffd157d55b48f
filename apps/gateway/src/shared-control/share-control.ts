/** Ties what gateways tell each other to what obeys it here. */
import type { INestApplicationContext } from '@nestjs/common';
import type { Logger } from 'pino';
import type { AgentAct, DecisionStore } from '#contracts';
import { randomIds, steadyClock, systemTimer } from '#kernel';
import type { HitlDesk } from '../hitl/hitl-desk.js';
import type { LlmProxyArea } from '../llm-proxy/llm-proxy.area.js';
import { METRICS } from '../tokens.js';
import { SharedControl } from './shared-control.js';
import { SharedControlEvents } from './shared-control-events.js';

interface ShareControlParts {
  proxy: Pick<LlmProxyArea, 'controlLog' | 'commands'>;
  desk: Pick<HitlDesk, 'tell' | 'hear' | 'hearOthers'>;
  store: DecisionStore;
  logger: Logger;
}

/** Before the gateway listens: what was said while it was away is in force by then. Null: it shares no Redis. */
export async function shareControl(
  app: INestApplicationContext,
  { proxy: { controlLog, commands }, desk, store, logger }: ShareControlParts,
): Promise<SharedControl | null> {
  if (controlLog === null) return null;
  const { log, gatewayId, opened } = controlLog;
  const shared: SharedControl = new SharedControl({
    log,
    gatewayId,
    store,
    obey: async ({ by, ageMs, left }) => {
      const act = left();
      if (act === null) return;
      if ('agent_id' in act) await commands.hear(by, act.agent_id, left as () => AgentAct | null);
      else await desk.hear(by, act, ageMs, () => left() !== null);
    },
    isStored: () => commands.isStored,
    events: new SharedControlEvents(steadyClock, logger, app.get(METRICS), () => shared.waitingCount),
    ids: randomIds,
    clock: steadyClock,
    timer: systemTimer,
  });
  desk.tell = commands.tell = (word) => shared.tell(word);
  desk.hearOthers = () => shared.lookAnew();
  await opened;
  await shared.start();
  return shared;
}
