/** Everything the inspect view starts from: the snapshot of `session:{id}`. */
import {
  type DecisionStore,
  type EntropyTuple,
  LIMITS,
  type ProxyStore,
  type SessionDetail,
  type SessionKey,
  type SessionView,
  splitSessionKey,
} from '#contracts';
import { stepViewOf } from '#domain/decision-log';
import type { EntropyReader } from '#domain/entropy';
import type { ControlDesk } from '../hitl/control-desk.js';
import type { SessionRegistry } from './session-registry.js';

const STEPS_SHOWN = 200;
/** The oldest; how many there are is said by `session.control.held_count`. */
const HELD_SHOWN = 200;
const SEMANTIC_LOOPS_SHOWN = 50;

export class SessionDetails {
  constructor(
    private readonly store: DecisionStore,
    private readonly registry: SessionRegistry,
    private readonly windows: EntropyReader,
    private readonly desk: ControlDesk,
    private readonly proxyStore: Pick<ProxyStore, 'semanticLoops'>,
  ) {}

  /** Null if this tenant has no such session. */
  async read(key: SessionKey): Promise<SessionDetail | null> {
    const { tenantId: tenant_id, sessionId: session_id } = splitSessionKey(key);
    const session = await this.registry.find(key);
    if (session === null) return null;
    const [steps, held, alert, audit, loops] = await Promise.all([
      this.store.steps({ tenant_id, session_id, limit: STEPS_SHOWN }),
      this.store.heldSteps(tenant_id, session_id, HELD_SHOWN),
      this.store.alertGroup(tenant_id, session_id),
      this.store.audit({ tenant_id, session_id, limit: LIMITS.sessionAuditEntriesMax }),
      this.proxyStore.semanticLoops({ tenant_id, session_id, limit: SEMANTIC_LOOPS_SHOWN }),
    ]);
    return {
      session: { ...session },
      window: this.#windowOf(key, session),
      alert,
      steps: steps.items
        .reverse()
        .filter((step) => !step.held)
        .map(stepViewOf),
      held: held.map(stepViewOf),
      directives: this.desk.pendingDirectives(key),
      audit: audit.items.reverse(),
      semantic_loops: loops.items.reverse(),
    };
  }

  /** The one that the session's score is of: the tracker's, but for steps that are held, which the row shows when they are released. */
  #windowOf(key: SessionKey, { window, control }: SessionView): EntropyTuple[] {
    const tracked = control.held_count > 0 ? [] : this.windows.snapshot(key);
    return tracked.length > 0 ? [...tracked] : window;
  }
}
