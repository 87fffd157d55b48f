/**
 * What every PromptHistory must do, as one suite over any implementation. Time is the suite's: a store whose entries
 * expire by a clock of its own lets tests take time off them instead. Imported by its own path and not from the index,
 * since it needs vitest.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PromptEntry, PromptHistory, PromptScope } from '#contracts';
import { HOUR_MS } from '#kernel';

/** Of the histories under test. */
export const CONFORMANCE_DIMENSION = 8;

export interface HistoryPlaceOptions {
  /** Absent: the implementation's defaults, which are 5 and an hour. */
  countMax?: number;
}

/** An empty history that has been opened. */
export interface HistoryPlace {
  history: PromptHistory;
  /** So much time has passed. */
  elapse(ms: number): Promise<void>;
  close(): Promise<void>;
}

const SCOPE: PromptScope = { tenant_id: 'default', session_id: 'session-1' };

/** At this angle, in degrees, from the first axis: cosines are those of differences. */
export function vectorAt(degrees: number, dimension = CONFORMANCE_DIMENSION): Float32Array {
  const vector = new Float32Array(dimension);
  vector[0] = Math.cos((degrees * Math.PI) / 180);
  vector[1] = Math.sin((degrees * Math.PI) / 180);
  return vector;
}

export const promptEntry = (
  requestId: string,
  degrees = 0,
  prompt = `prompt of ${requestId}`,
): PromptEntry => ({
  request_id: requestId,
  prompt,
  vector: vectorAt(degrees),
  at_ms: 1_000,
});

const EMOJI_ID = '\u{1F9ED}'.repeat(200);
/** Pairs that a separator, a pattern, an escape or a query would mix up. */
const SCOPES: readonly (readonly [tenant: string, session: string])[] = [
  ['a|b', 'c'],
  ['a', 'b|c'],
  ['a:b', 'c'],
  ['a', 'b:c'],
  ['a\0b', 'c'],
  ['a', 'b\0c'],
  ['ab', 'c'],
  ['a', 'bc'],
  ['1:a', 'c'],
  ['*', '*'],
  ['a', '*'],
  ['{a}', 'b'],
  ['a', '{b}'],
  ['a}) => [KNN 9 @vec $vector]', 'b'],
  ['@tenant:{a}', '-@session:{b}'],
  ['A', 'bc'],
  ['a b', 'a,b'],
  ['é', 'c'],
  ['e\u0301', 'c'],
  ['\ud800', 'c'],
  ['\ud801', 'c'],
  [EMOJI_ID, EMOJI_ID],
  [`${EMOJI_ID}\u{1F9ED}`, EMOJI_ID],
  ['', ''],
];

export function promptHistoryConformance(
  name: string,
  make: (options: HistoryPlaceOptions) => Promise<HistoryPlace>,
): void {
  describe(`PromptHistory: ${name}`, () => {
    let place: HistoryPlace;
    let history: PromptHistory;

    beforeEach(async () => {
      place = await make({});
      history = place.history;
    });
    afterEach(() => place.close());

    const idsIn = async (scope: PromptScope = SCOPE, requestId = 'asking'): Promise<string[]> =>
      (await history.similar(scope, vectorAt(0), requestId)).map(({ request_id }) => request_id);

    it('serves once it is open, and may be opened again', async () => {
      await history.probe();
      await history.open();
      expect(await history.similar(SCOPE, vectorAt(0), 'asking')).toEqual([]);
    });

    it('gives what was recorded with its cosine, nearest first', async () => {
      for (const [id, degrees] of [
        ['opposite', 180],
        ['near', 20],
        ['same', 0],
        ['across', 90],
      ] as const)
        await history.record(SCOPE, promptEntry(id, degrees));
      const matches = await history.similar(SCOPE, vectorAt(0), 'asking');
      expect(matches.map(({ cosine, ...rest }) => rest)).toEqual(
        ['same', 'near', 'across', 'opposite'].map((id) => ({
          request_id: id,
          prompt: `prompt of ${id}`,
          at_ms: 1_000,
        })),
      );
      const cosines = [1, Math.cos(Math.PI / 9), 0, -1];
      for (const [index, { cosine }] of matches.entries()) {
        expect(cosine).toBeCloseTo(cosines[index] as number, 5);
        expect(Math.abs(cosine)).toBeLessThanOrEqual(1);
      }
    });

    it('keeps the last five by arrival, whatever time they bear', async () => {
      for (let index = 1; index <= 8; index += 1)
        await history.record(SCOPE, { ...promptEntry(`r${index}`, index), at_ms: 10_000 - index });
      expect(await idsIn()).toEqual(['r4', 'r5', 'r6', 'r7', 'r8']);
    });

    it('keeps as many as it was told to', async () => {
      const small = await make({ countMax: 2 });
      for (const id of ['a', 'b', 'c']) await small.history.record(SCOPE, promptEntry(id));
      const matches = await small.history.similar(SCOPE, vectorAt(0), 'asking');
      expect(matches.map(({ request_id }) => request_id).sort()).toEqual(['b', 'c']);
      await small.close();
    });

    it('replaces the entry of a request that comes again, as its newest', async () => {
      for (let index = 1; index <= 5; index += 1)
        await history.record(SCOPE, promptEntry(`r${index}`, index * 10));
      await history.record(SCOPE, promptEntry('r1', 90, 'said again'));
      await history.record(SCOPE, promptEntry('r6', 60));
      const matches = await history.similar(SCOPE, vectorAt(90), 'asking');
      expect(matches.map(({ request_id }) => request_id)).toEqual(['r1', 'r6', 'r5', 'r4', 'r3']);
      expect(matches[0]).toMatchObject({ prompt: 'said again', cosine: expect.closeTo(1, 5) });
    });

    it('never compares a request with itself, and still compares it with all others', async () => {
      for (let index = 1; index <= 5; index += 1)
        await history.record(SCOPE, promptEntry(`r${index}`, index));
      expect(await idsIn(SCOPE, 'r3')).toEqual(['r1', 'r2', 'r4', 'r5']);
    });

    it('lets no tenant and no session reach another, whatever their ids hold', async () => {
      const scopes = SCOPES.map(([tenant_id, session_id]) => ({ tenant_id, session_id }));
      for (const [index, scope] of scopes.entries()) await history.record(scope, promptEntry(`of ${index}`));
      for (const [index, scope] of scopes.entries()) expect(await idsIn(scope)).toEqual([`of ${index}`]);
      expect(await idsIn({ tenant_id: 'a', session_id: 'never seen' })).toEqual([]);
    });

    it('forgets each prompt an hour after it was recorded, also when later ones came', async () => {
      await history.record(SCOPE, promptEntry('first', 1));
      await place.elapse(HOUR_MS / 2);
      await history.record(SCOPE, promptEntry('second', 2));
      await place.elapse(HOUR_MS / 2 - 5_000);
      expect(await idsIn()).toEqual(['first', 'second']);
      await place.elapse(5_000);
      expect(await idsIn()).toEqual(['second']);
      await place.elapse(HOUR_MS);
      expect(await idsIn()).toEqual([]);
      await history.record(SCOPE, promptEntry('third'));
      expect(await idsIn()).toEqual(['third']);
    });

    it('gives prompts and request ids back as they were, whatever characters they hold', async () => {
      const odd = 'line\r\n$5\r\n\0\u{1F9ED} "quoted" {x} %s é e\u0301 \u202e \\ end';
      await history.record(SCOPE, promptEntry(odd, 0, odd));
      await history.record(SCOPE, promptEntry('empty', 90, ''));
      expect(await history.similar(SCOPE, vectorAt(0), 'asking')).toMatchObject([
        { request_id: odd, prompt: odd },
        { request_id: 'empty', prompt: '' },
      ]);
      expect(await idsIn(SCOPE, odd)).toEqual(['empty']);
    });

    it('keeps 8,000 characters of a prompt, and never half of one', async () => {
      const long = `${'x'.repeat(7_999)}\u{1F9ED}${'y'.repeat(100_000)}`;
      await history.record(SCOPE, promptEntry('long', 0, long));
      await history.record(SCOPE, promptEntry('lone', 90, 'a\ud800b'));
      expect(await history.similar(SCOPE, vectorAt(0), 'asking')).toMatchObject([
        { prompt: 'x'.repeat(7_999) },
        { prompt: 'a\ufffdb' },
      ]);
    });

    it('keeps five of twenty recorded at once, and mixes none up', async () => {
      const ids = Array.from({ length: 20 }, (_, index) => `r${index}`);
      await Promise.all(ids.map((id, index) => history.record(SCOPE, promptEntry(id, index))));
      const matches = await history.similar(SCOPE, vectorAt(0), 'asking');
      expect(matches).toHaveLength(5);
      for (const { request_id, prompt, cosine } of matches) {
        expect(prompt).toBe(`prompt of ${request_id}`);
        expect(cosine).toBeCloseTo(Math.cos((Number(request_id.slice(1)) * Math.PI) / 180), 5);
      }
    });

    it('keeps its own copy of a vector', async () => {
      const entry = promptEntry('kept');
      await history.record(SCOPE, entry);
      entry.vector.fill(0);
      expect((await history.similar(SCOPE, vectorAt(0), 'asking'))[0]?.cosine).toBeCloseTo(1, 5);
    });

    it.each([
      ['of another dimension', vectorAt(0, CONFORMANCE_DIMENSION + 1)],
      ['without length', new Float32Array(CONFORMANCE_DIMENSION)],
      ['longer than one', vectorAt(0).map((value) => value * 2)],
      ['with a NaN', vectorAt(0).fill(Number.NaN, 3)],
      ['without end', vectorAt(0).fill(Number.POSITIVE_INFINITY, 3)],
    ])('refuses a vector %s, and keeps nothing of it', async (_what, vector) => {
      const failure = { name: 'PromptHistoryFailure', reason: 'failed' };
      await expect(history.record(SCOPE, { ...promptEntry('bad'), vector })).rejects.toMatchObject(failure);
      await expect(history.similar(SCOPE, vector, 'asking')).rejects.toMatchObject(failure);
      expect(await idsIn()).toEqual([]);
    });

    it('answers nothing once it is closed', async () => {
      await history.record(SCOPE, promptEntry('before'));
      await history.close();
      const failure = { name: 'PromptHistoryFailure', reason: 'unavailable' };
      await expect(history.probe()).rejects.toMatchObject(failure);
      await expect(history.open()).rejects.toMatchObject(failure);
      await expect(history.similar(SCOPE, vectorAt(0), 'asking')).rejects.toMatchObject(failure);
      await expect(history.record(SCOPE, promptEntry('after'))).rejects.toMatchObject(failure);
    });
  });
}
