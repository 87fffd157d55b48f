/**
 * Calls, the store and the gateway's end at once; what the store does with a write comes in any order beside what else happens.
 * Whatever the order: where the store takes writes by the end, it holds what memory does.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { agentScope, type DocumentWrite, ObservatoryError, type StoredDocument } from '#contracts';
import { checkRaces, FakeTime, letAllCome, RACES_MS, turn } from '#testing';
import { StoredAnswers } from './stored-answers.js';

const AGENT = agentScope('default', 'agent-1');
const OPTIONS = { kind: 'unsettled_answer', countMax: 3, idleMs: 1e9 } as const;

interface Acts {
  /** By call. */
  does: { id: string; does: 'note' | 'remove' }[][];
  /** Milliseconds that pass. */
  clock: number[];
  /** Of the store's writes until the end, those that it refuses, at once or once their turn has come. */
  refused: { nth: number; isAtOnce: boolean }[];
  /** How often it refuses at the end. */
  lastRefusals: number;
  together: number[];
}

class Race {
  readonly trail: string[] = [];
  readonly time = new FakeTime();
  readonly documents = new Map<string, StoredDocument>();
  readonly answers = this.#open();
  #nth = 0;
  #lastRefusals = 0;
  #isEnding = false;
  readonly #queue: (() => void)[] = [];

  constructor(
    readonly acts: Acts,
    readonly scheduler: fc.Scheduler,
  ) {}

  async run(): Promise<void> {
    const { does, clock } = this.acts;
    await this.#until(Promise.all([this.#clock(clock), ...does.map((one, call) => this.#call(one, call))]));
    // Of some it does not know yet what becomes.
    for (const id of ['a', 'b']) this.answers.note(AGENT, id, 'last');
    this.#isEnding = true;
    await this.#until(this.answers.stop(), () => this.time.pass(100));
  }

  async #until(end: Promise<unknown>, meanwhile = async () => {}): Promise<void> {
    let isOver = false;
    void end.then(() => {
      isOver = true;
    });
    for (let nth = 0; nth < 100 && !isOver; nth += 1) {
      await letAllCome(this.scheduler, this.acts.together);
      await meanwhile();
    }
    expect(isOver).toBe(true);
  }

  async check(): Promise<void> {
    const next = this.#open();
    await next.load();
    for (const id of ['a', 'b', 'c'])
      expect([id, next.find(AGENT, id)]).toEqual([id, this.answers.find(AGENT, id)]);
    expect(this.documents.size).toBe(this.answers.count);
  }

  #open(): StoredAnswers<string> {
    const store = {
      documents: async () => [...this.documents.values()],
      commitDocuments: (write: DocumentWrite) => this.#commit(structuredClone(write)),
    };
    return new StoredAnswers({ clock: this.time, timer: this.time, store, onSaveFailed: () => {} }, OPTIONS);
  }

  /** In order, except those that are refused at once. */
  #commit({ saved = [], deleted = [] }: DocumentWrite): Promise<void> {
    this.#nth += 1;
    const nth = this.#nth;
    const refusal = this.#refusal(nth);
    if (refusal?.isAtOnce) return Promise.reject(new ObservatoryError('store_busy'));
    return new Promise((resolve, reject) => {
      this.#queue.push(() => {
        if (refusal !== undefined) return reject(new ObservatoryError('store_busy'));
        for (const document of saved) this.documents.set(document.id, document as StoredDocument);
        for (const { id } of deleted) this.documents.delete(id);
        this.trail.push(`write ${nth} is kept`);
        resolve();
      });
      void this.scheduler.schedule(Promise.resolve(), `write ${nth}`).then(() => this.#queue.shift()?.());
    });
  }

  #refusal(nth: number): { isAtOnce: boolean } | undefined {
    if (!this.#isEnding) return this.acts.refused.find((one) => one.nth === nth);
    this.#lastRefusals += 1;
    return this.#lastRefusals <= this.acts.lastRefusals ? { isAtOnce: nth % 2 === 0 } : undefined;
  }

  async #clock(all: readonly number[]): Promise<void> {
    for (const ms of all) {
      await this.scheduler.schedule(Promise.resolve(), `${ms} ms`);
      this.trail.push(`${ms} ms pass`);
      await this.time.pass(ms);
    }
  }

  async #call(does: Acts['does'][number], call: number): Promise<void> {
    for (const [nth, one] of does.entries()) {
      await this.scheduler.schedule(Promise.resolve(), `call ${call}`);
      this.trail.push(`call ${call}: ${JSON.stringify(one)}`);
      if (one.does === 'note') this.answers.note(AGENT, one.id, `${call}.${nth}`);
      else this.answers.remove(AGENT, one.id);
      await turn();
    }
  }
}

const act = fc.record({
  id: fc.constantFrom('a', 'a', 'b', 'c'),
  does: fc.constantFrom('note' as const, 'note' as const, 'remove' as const),
});
const acts: fc.Arbitrary<Acts> = fc.record({
  does: fc.array(fc.array(act, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 }),
  clock: fc.array(fc.constantFrom(1_000, 5_000), { maxLength: 3 }),
  refused: fc.array(fc.record({ nth: fc.integer({ min: 1, max: 12 }), isAtOnce: fc.boolean() }), {
    maxLength: 6,
  }),
  lastRefusals: fc.constantFrom(0, 0, 1, 3),
  together: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
});

it(
  'at once, in any order: what is known of answers is kept, whatever the store refused for a moment',
  async () => {
    await checkRaces(acts, (all, scheduler) => new Race(all, scheduler), 400);
  },
  RACES_MS,
);
