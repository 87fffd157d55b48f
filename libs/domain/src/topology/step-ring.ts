/**
 * The latest steps of all sessions, to find a parent by its trace id. A ring of columns, in which a step leaves no object of its own:
 * one for each, and an entry in a Map of its session, were cache misses and garbage for every message. Sessions and agents are named:
 * a ring full of steps of sessions that left the map would keep all these sessions.
 */
import { RingChains, textDigest } from '#kernel';
import type { Session, WaitingStep } from './session.js';

/** Steps of a chain that are looked at: a tenant that makes digests meet loses parents of its own. */
const LOOKED_AT_MAX = 64;

export interface RememberedStep {
  readonly session: Session;
  readonly agentId: string;
  readonly traceId: string;
  /** Null for a root, and for a step whose parent was refused as a cycle. */
  readonly parentTraceId: string | null;
  /** The agent's own clock. */
  readonly atMs: number;
  /** It waits for its parent. */
  readonly waiting: WaitingStep | null;
}

/** A row is a step's number, from 1 on; 0 is none. */
export class StepRing {
  readonly #chains: RingChains;
  readonly #sessions: number[] = [];
  readonly #agentIds: string[] = [];
  readonly #traceIds: string[] = [];
  readonly #parents: (string | null)[] = [];
  readonly #times: number[] = [];
  readonly #waiting: (WaitingStep | null)[] = [];

  constructor(stepCountMax: number) {
    this.#chains = new RingChains(stepCountMax);
  }

  /** @returns the latest step with this trace id */
  find(session: Session, traceId: string): number {
    const digest = textDigest(traceId, session.seed);
    let row = this.#chains.latest(digest);
    for (let looked = 0; looked < LOOKED_AT_MAX && this.#chains.isKept(row); looked += 1) {
      if (this.#chains.digestOf(row) === digest && this.#isOf(row, session, traceId)) return row;
      row = this.#chains.before(row);
    }
    return 0;
  }

  /** In place of the oldest, if the ring is full, which waits no more. */
  add(step: RememberedStep): void {
    const place = this.#chains.placeOf(this.#chains.add(textDigest(step.traceId, step.session.seed)));
    const gone = this.#waiting[place];
    gone?.session.stopAwaiting(gone);
    this.#sessions[place] = step.session.serial;
    this.#agentIds[place] = step.agentId;
    this.#traceIds[place] = step.traceId;
    this.#parents[place] = step.parentTraceId;
    this.#times[place] = step.atMs;
    this.#waiting[place] = step.waiting;
  }

  agentIdOf(row: number): string {
    return this.#agentIds[this.#chains.placeOf(row)] as string;
  }

  traceIdOf(row: number): string {
    return this.#traceIds[this.#chains.placeOf(row)] as string;
  }

  parentOf(row: number): string | null {
    return this.#parents[this.#chains.placeOf(row)] as string | null;
  }

  timeOf(row: number): number {
    return this.#times[this.#chains.placeOf(row)] as number;
  }

  #isOf(row: number, session: Session, traceId: string): boolean {
    const place = this.#chains.placeOf(row);
    return this.#sessions[place] === session.serial && this.#traceIds[place] === traceId;
  }
}
