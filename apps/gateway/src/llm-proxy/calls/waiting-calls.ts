/**
 * Which calls wait, for an operator, an equal call's answer or their upstream, and how they hear that they may wait no longer.
 * Bounded by whatever they wait for.
 */
import type { AgentScope } from '#contracts';
import { type Link, LinkedList } from '#kernel';
import type { AgentStanding } from '../agents/agent-standing.js';
import type { ProxyCall, Verdict } from '../proxy-call.js';

type OnRefused = (refusal: Verdict) => void;

export class WaitingCalls {
  readonly #waits = new LinkedList<Wait>();

  /** @param onRefused called at once when the call may not go on any more; must not throw */
  enter(call: ProxyCall, standing: AgentStanding, onRefused: OnRefused): Wait {
    return new Wait(call, standing, onRefused, this.#waits);
  }

  /**
   * After a change of what an agent may do, or of whose keys are in force. In the turn of the change: what is undone right
   * behind it was in force for a moment, and who was stopped in it stays stopped.
   *
   * @param scope absent: all agents
   */
  lookAgain(scope?: AgentScope): void {
    for (const wait of this.#waits) if (scope === undefined || scope === wait.scope) wait.look();
  }
}

export class Wait {
  #refusal: Verdict | undefined;
  readonly #call: ProxyCall;
  readonly #standing: AgentStanding;
  readonly #onRefused: OnRefused;
  readonly #waits: LinkedList<Wait>;
  readonly #link: Link<Wait>;

  constructor(call: ProxyCall, standing: AgentStanding, onRefused: OnRefused, waits: LinkedList<Wait>) {
    this.#call = call;
    this.#standing = standing;
    this.#onRefused = onRefused;
    this.#waits = waits;
    this.#link = waits.add(this);
  }

  get scope(): AgentScope {
    return this.#call.scope;
  }

  /** @returns why the call may not go on. The first refusal counts: a reactivation right behind it comes too late. */
  look(): Verdict | undefined {
    if (this.#refusal !== undefined) return this.#refusal;
    this.#refusal = this.#standing(this.#call);
    if (this.#refusal !== undefined) this.#onRefused(this.#refusal);
    return this.#refusal;
  }

  /** What changes from now on is the next step's. */
  end(): void {
    this.#waits.delete(this.#link);
  }
}
