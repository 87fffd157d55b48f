/** The steps that were made of calls, on their way to the interceptor, as if their agent had sent them; and what calls took without one. */
import type { DecisionLog } from '#contracts';
import type { SchemaInterceptor } from '../../decision-log/schema-interceptor.js';
import type { SessionRegistry, SteplessUse } from '../../decision-log/session-registry.js';

export class StepDelivery {
  readonly #onRefused: (stepCount: number, error: unknown) => void;
  readonly #underWay = new Set<Promise<unknown>>();
  #interceptor: SchemaInterceptor | null = null;
  #sessions: Pick<SessionRegistry, 'noteStepless'> | null = null;

  constructor(onRefused: (stepCount: number, error: unknown) => void) {
    this.#onRefused = onRefused;
  }

  /** Before the first call. */
  connect(interceptor: SchemaInterceptor, sessions: Pick<SessionRegistry, 'noteStepless'>): void {
    this.#interceptor = interceptor;
    this.#sessions = sessions;
  }

  /** Never throws. */
  deliver(tenantId: string, logs: DecisionLog[]): void {
    const messages = logs.map((value) => ({ value, text: null }));
    const delivery = this.#interceptor?.intercept(tenantId, messages) ?? Promise.resolve();
    const settled: Promise<unknown> = delivery
      .catch((error: unknown) => this.#onRefused(logs.length, error))
      .finally(() => this.#underWay.delete(settled));
    this.#underWay.add(settled);
  }

  /** Once what was delivered before has come in: it may begin their sessions. */
  noteStepless(uses: readonly SteplessUse[]): void {
    const noted: Promise<unknown> = this.settled()
      .then(() => {
        for (const use of uses) this.#sessions?.noteStepless(use);
      })
      .finally(() => this.#underWay.delete(noted));
    this.#underWay.add(noted);
  }

  /** Resolves once all that is under way now has come in. Never rejects. */
  settled(): Promise<unknown> {
    return Promise.all(this.#underWay);
  }
}
