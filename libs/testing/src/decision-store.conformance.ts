/**
 * What every DecisionStore must do, as one suite over any implementation. Imported by its own path and not from the
 * index, since it needs vitest.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  AUDIT_READ_CHARS_MAX,
  type DecisionStore,
  RELEASED_STEPS_MAX,
  STEPS_READ_CHARS_MAX,
  type StepRow,
} from '#contracts';
import { buildDecisionLog } from './build-decision-log.js';
import {
  buildAlertEvent,
  buildAuditDraft,
  buildControlRow,
  buildSessionView,
  buildStepRow,
  buildViolationEvent,
} from './build-store-rows.js';
import { everyPage } from './every-page.js';

/** A place for one store; `open` may be called again after the store was closed, and finds what was kept. */
export interface StorePlace {
  open(): Promise<DecisionStore>;
  remove(): Promise<void>;
}

const SESSION = { tenant_id: 'default', session_id: 'session-1' };

/** Two of them fill what is read at once. */
function longStepRow(index: number, overrides: Partial<StepRow> = {}): StepRow {
  const row = buildStepRow({ trace_id: `long-${index}`, ...overrides });
  const text = 'x'.repeat(STEPS_READ_CHARS_MAX / 2);
  return { ...row, body: row.body.replace('"intent":"', `"intent":"${text}`) };
}

export function describeDecisionStore(name: string, makePlace: () => Promise<StorePlace>): void {
  describe(`DecisionStore: ${name}`, () => {
    let place: StorePlace;
    let store: DecisionStore;

    beforeEach(async () => {
      place = await makePlace();
      store = await place.open();
    });
    afterEach(async () => {
      await store.close();
      await place.remove();
    });

    const reopen = async () => {
      await store.close();
      store = await place.open();
    };
    const traces = (steps: { trace_id: string }[]) => steps.map((step) => step.trace_id);

    describe('steps', () => {
      it('gives ascending sequence numbers and reads back what was written', async () => {
        const row = buildStepRow({ entropy_score: 0.4, entropy_severity: 'warning', window_size: 5 });
        const [first] = await store.appendSteps([row]);
        const [second] = await store.appendSteps([buildStepRow()]);
        expect(second?.seq).toBeGreaterThan(first?.seq ?? 0);
        const { body, held: _held, ...columns } = row;
        const { items } = await store.steps({ ...SESSION, limit: 2, order: 'asc' });
        expect(items).toMatchObject([
          { ...columns, seq: first?.seq, held: false, rewritten_by: null, log: JSON.parse(body) },
          { seq: second?.seq },
        ]);
      });

      it('writes score and severity into the log it reads, but no score where none could be taken', async () => {
        const reported = buildDecisionLog({ cognition: { intent: 'i', entropy_score: 0.9 } });
        const scored = { entropy_score: 0.4, entropy_severity: 'warning' as const, window_size: 5 };
        const unscored = { entropy_score: 1, entropy_severity: 'normal' as const, window_size: 0 };
        const bodies = [reported, buildDecisionLog()].map((log) => JSON.stringify(log));
        await store.appendSteps(
          bodies.flatMap((body) => [buildStepRow({ ...scored, body }), buildStepRow({ ...unscored, body })]),
        );
        const { items } = await store.steps({ ...SESSION, limit: 4, order: 'asc' });
        expect(items.map(({ log }) => [log.cognition.entropy_score, log.cognition.entropy_severity])).toEqual(
          [
            [0.4, 'warning'],
            [0.9, 'normal'],
            [0.4, 'warning'],
            [undefined, 'normal'],
          ],
        );
      });

      it('says what the last steps of a session repeat, however long they are', async () => {
        const rows = [longStepRow(1), longStepRow(2), longStepRow(3)];
        await store.appendSteps([...rows, buildStepRow({ agent_id: 'last' })]);
        await store.appendSteps([buildStepRow({ session_id: 'another' })]);
        const tupleOf = ({ body }: StepRow) => {
          const { cognition, action } = JSON.parse(body);
          return {
            intent: cognition.intent,
            tool_call: action.tool_call ?? '',
            action_status: action.status,
          };
        };
        const last = await store.lastTuples('default', 'session-1', 3, 'name');
        expect(last?.agent_id).toBe('last');
        expect(last?.tuples.slice(0, 2)).toEqual(rows.slice(1).map(tupleOf));
        expect(last?.tuples).toHaveLength(3);
        expect(await store.lastTuples('default', 'unheard', 3, 'name')).toBeNull();
      });

      it('stores a step sent again once, and answers with the first one', async () => {
        const row = buildStepRow();
        const [first] = await store.appendSteps([row]);
        const other = buildStepRow();
        const again = await store.appendSteps([row, other, row]);
        expect(again).toEqual([
          { seq: first?.seq, duplicate: true },
          { seq: expect.any(Number), duplicate: false },
          { seq: first?.seq, duplicate: true },
        ]);
        expect(await store.stepsAfter(0, 10)).toHaveLength(2);
      });

      it('keeps the same trace with another body, or of another tenant, as another step', async () => {
        const row = buildStepRow({ trace_id: 'reused' });
        const commits = await store.appendSteps([
          row,
          { ...row, body_hash: 'another' },
          { ...row, tenant_id: 'other' },
        ]);
        expect(commits.map((commit) => commit.duplicate)).toEqual([false, false, false]);
        const [first, second, third] = commits.map((commit) => commit.seq);
        expect(await store.stepByTrace('default', 'reused')).toMatchObject({ seq: second });
        expect(await store.stepByTrace('default', 'reused', row.body_hash)).toMatchObject({ seq: first });
        expect(await store.stepByTrace('other', 'reused')).toMatchObject({ seq: third });
        expect(await store.stepByTrace('other', 'reused', 'another')).toBeNull();
      });

      it('finds every body of a trace id that is used for all', async () => {
        const rows = Array.from({ length: 40 }, () => buildStepRow({ trace_id: 'reused' }));
        const commits = await store.appendSteps(rows);
        for (const [index, row] of rows.entries()) {
          expect(await store.stepByTrace('default', 'reused', row.body_hash)).toMatchObject({
            seq: commits[index]?.seq,
          });
        }
        expect((await store.appendSteps(rows)).every((commit) => commit.duplicate)).toBe(true);
      });

      it('tells duplicates apart in calls that share a commit', async () => {
        const rows = Array.from({ length: 6 }, () => buildStepRow());
        const calls = rows.map((row, index) =>
          store.appendSteps(index % 2 === 0 ? [row] : [row, rows[0] ?? row]),
        );
        const commits = await Promise.all(calls);
        const firstSeq = commits[0]?.[0]?.seq;
        for (const [index, call] of commits.entries()) {
          expect(call[0]?.duplicate).toBe(false);
          if (index % 2 === 1) expect(call[1]).toEqual({ seq: firstSeq, duplicate: true });
        }
        expect(new Set(commits.map((call) => call[0]?.seq)).size).toBe(rows.length);
        const stored = await store.stepsAfter(0, 100);
        expect(stored.map((step) => [step.seq, step.trace_id])).toEqual(
          commits.map((call, index) => [call[0]?.seq, rows[index]?.trace_id]),
        );
      });

      it('takes a call without rows as done', async () => {
        expect(await store.appendSteps([])).toEqual([]);
      });

      it('keeps texts of any script, quotes and control characters', async () => {
        const row = buildStepRow({ trace_id: 'träce-猫-\u0000-"\'', session_id: 'сессия' });
        await store.appendSteps([row]);
        const { items } = await store.steps({ tenant_id: 'default', session_id: 'сессия', limit: 2 });
        expect(traces(items)).toEqual([row.trace_id]);
        expect((await store.appendSteps([row]))[0]?.duplicate).toBe(true);
      });

      it('never gives a sequence number twice, after a restart either', async () => {
        const [before] = await store.appendSteps([buildStepRow()]);
        await reopen();
        const [after] = await store.appendSteps([buildStepRow()]);
        expect(after?.seq).toBeGreaterThan(before?.seq ?? Number.POSITIVE_INFINITY);
      });

      it('names the newest steps, oldest first, for the duplicate filter', async () => {
        const rows = Array.from({ length: 4 }, () => buildStepRow());
        await store.appendSteps(rows);
        expect(await store.recentStepKeys(2)).toEqual(
          rows.slice(2).map(({ tenant_id, session_id, trace_id, body_hash }) => ({
            tenant_id,
            session_id,
            trace_id,
            body_hash,
          })),
        );
      });
    });

    describe('paging', () => {
      it('pages through steps in both directions, each once, and ends with a null cursor', async () => {
        const rows = Array.from({ length: 7 }, () => buildStepRow());
        await store.appendSteps(rows);
        const ascending = await everyPage((query) => store.steps({ ...query, ...SESSION, order: 'asc' }));
        expect(traces(ascending)).toEqual(traces(rows));
        const descending = await everyPage((query) => store.steps({ ...query, ...SESSION }));
        expect(traces(descending)).toEqual(traces(rows).reverse());
      });

      it('neither repeats nor skips a step while steps are written', async () => {
        const rows = Array.from({ length: 7 }, () => buildStepRow());
        await store.appendSteps(rows);
        const seen = await everyPage(
          (query) => store.steps({ ...query, ...SESSION }),
          () => store.appendSteps([buildStepRow(), buildStepRow()]),
        );
        expect(traces(seen)).toEqual(traces(rows).reverse());
      });

      it('ends on a page that is exactly full', async () => {
        await store.appendSteps(Array.from({ length: 3 }, () => buildStepRow()));
        expect((await store.steps({ ...SESSION, limit: 3 })).next_cursor).toBeNull();
      });

      it('gives long steps in shorter pages, each step once', async () => {
        const rows = Array.from({ length: 5 }, (_, index) => longStepRow(index));
        await store.appendSteps(rows);
        for (const order of ['asc', 'desc'] as const) {
          const pageSizes: number[] = [];
          const seen = await everyPage(async (query) => {
            const page = await store.steps({ ...query, limit: 100, ...SESSION, order });
            pageSizes.push(page.items.length);
            return page;
          });
          expect(traces(seen)).toEqual(order === 'asc' ? traces(rows) : traces(rows).reverse());
          expect(pageSizes).toEqual([2, 2, 1]);
        }
      });

      it('pages through sessions, most recently seen first, though many were seen at the same time', async () => {
        const views = Array.from({ length: 8 }, (_, index) =>
          buildSessionView({ session_id: `s-${index}`, last_seen_ms: 1_000 + Math.floor(index / 4) }),
        );
        await store.saveSessions(
          views.map((view) => ({ tenant_id: 'default', view })),
          1,
        );
        const seen = await everyPage((query) => store.sessions({ ...query, tenant_id: 'default' }));
        expect(seen.map((view) => view.session_id)).toEqual([
          's-7',
          's-6',
          's-5',
          's-4',
          's-3',
          's-2',
          's-1',
          's-0',
        ]);
      });

      it.each([
        ['nonsense', '%%%'],
        ['not json', Buffer.from('[1,').toString('base64url')],
        ['another listing', Buffer.from('["audit",1]').toString('base64url')],
        ['a wrong key', Buffer.from('["steps","x"]').toString('base64url')],
        ['too long', 'A'.repeat(100_000)],
        ['empty', ''],
      ])('refuses a cursor that is %s', async (_kind, cursor) => {
        await expect(store.steps({ ...SESSION, limit: 1, cursor })).rejects.toMatchObject({
          code: 'invalid_request',
          detail: expect.stringMatching(/^cursor: /),
        });
      });

      it.each([0, 501, 1.5, Number.NaN])('refuses a limit of %s', async (limit) => {
        await expect(store.sessions({ tenant_id: 'default', limit })).rejects.toMatchObject({
          code: 'invalid_request',
        });
      });
    });

    describe('sessions', () => {
      beforeEach(async () => {
        const view = (session_id: string, rest: Parameters<typeof buildSessionView>[0]) => ({
          tenant_id: 'default',
          view: buildSessionView({ session_id, ...rest }),
        });
        await store.saveSessions(
          [
            view('alpha', { last_seen_ms: 1, agent_id: 'Planner', severity: 'loop' }),
            view('beta', { last_seen_ms: 2, last_intent: 'Höhe MESSEN', ended: true }),
            view('gamma', { last_seen_ms: 3, last_tool: 'SQL_query', severity: 'loop', ended: true }),
            { tenant_id: 'other', view: buildSessionView({ session_id: 'alpha', last_seen_ms: 4 }) },
          ],
          42,
        );
      });

      const found = async (filter: object) =>
        (await store.sessions({ tenant_id: 'default', limit: 10, ...filter })).items.map(
          (view) => view.session_id,
        );

      it('finds sessions by any of their words, whatever the case', async () => {
        expect(await found({ q: 'ALPH' })).toEqual(['alpha']);
        expect(await found({ q: 'planner' })).toEqual(['alpha']);
        expect(await found({ q: 'HÖHE mess' })).toEqual(['beta']);
        expect(await found({ q: 'sql_' })).toEqual(['gamma']);
        expect(await found({ q: '%' })).toEqual([]);
        expect(await found({ q: '' })).toEqual(['gamma', 'beta', 'alpha']);
      });

      it('combines filters', async () => {
        expect(await found({ severity: 'loop' })).toEqual(['gamma', 'alpha']);
        expect(await found({ severity: 'loop', ended: false })).toEqual(['alpha']);
        expect(await found({ agent_id: 'agent-1', ended: true })).toEqual(['gamma', 'beta']);
      });

      it('replaces a row on the next save and keeps tenants apart', async () => {
        const view = buildSessionView({ session_id: 'alpha', last_seen_ms: 9, step_count: 7 });
        await store.saveSessions([{ tenant_id: 'default', view }], 43);
        expect(await store.session('default', 'alpha')).toEqual(view);
        expect(await store.session('other', 'alpha')).toMatchObject({ last_seen_ms: 4 });
        expect(await store.session('other', 'beta')).toBeNull();
        expect(await found({})).toEqual(['alpha', 'gamma', 'beta']);
      });

      it('gives the newest of all tenants with the checkpoint they belong to, after a restart too', async () => {
        await reopen();
        const recent = await store.recentSessions(2);
        expect(recent.checkpointSeq).toBe(42);
        expect(recent.rows.map((row) => [row.tenant_id, row.view.session_id])).toEqual([
          ['other', 'alpha'],
          ['default', 'gamma'],
        ]);
      });

      it('gives the newest of each tenant, however many newer ones another has', async () => {
        const views = [5, 6, 7].map((last_seen_ms) =>
          buildSessionView({ session_id: `s${last_seen_ms}`, last_seen_ms }),
        );
        await store.saveSessions(
          views.map((view) => ({ tenant_id: 'other', view })),
          43,
        );
        const { rows } = await store.recentSessions(3);
        expect(rows.map((row) => [row.tenant_id, row.view.session_id])).toEqual([
          ['other', 's7'],
          ['other', 's6'],
          ['default', 'gamma'],
        ]);
      });
    });

    describe('control', () => {
      it('writes control, audit and release together and answers with the chained entries', async () => {
        await store.appendSteps([
          buildStepRow({ trace_id: 'a', held: 1 }),
          buildStepRow({ trace_id: 'b', held: 0 }),
          buildStepRow({ trace_id: 'c', held: 1 }),
          buildStepRow({ trace_id: 'd', held: 1, session_id: 'session-2' }),
        ]);
        expect(traces(await store.heldSteps('default', 'session-1', 9))).toEqual(['a', 'c']);
        expect(traces(await store.heldSteps('default', 'session-1', 1))).toEqual(['a']);
        const ofOther = { tenant_id: 'default', session_id: 'session-2', held_count: 1 };
        const counts = await store.heldCounts();
        expect(counts).toHaveLength(2);
        expect(counts).toEqual(expect.arrayContaining([{ ...SESSION, held_count: 2 }, ofOther]));
        expect(await store.heldStep('default', 'session-1', 'c')).toMatchObject({
          trace_id: 'c',
          held: true,
        });
        expect(await store.heldStep('default', 'session-1', 'b')).toBeNull();
        const control = buildControlRow({ state: 'active' });
        const commit = await store.commitControl({
          control,
          audit: [buildAuditDraft({ action: 'resume' }), buildAuditDraft({ action: 'inject' })],
          release: SESSION,
        });
        expect(commit.released.map((step) => [step.trace_id, step.held])).toEqual([
          ['a', false],
          ['c', false],
        ]);
        expect(commit.audit.map((entry) => entry.seq)).toEqual([1, 2]);
        expect(commit.audit[1]?.prev_hash).toBe(commit.audit[0]?.hash);
        expect(commit.has_more_held).toBe(false);
        expect(await store.heldCounts()).toEqual([ofOther]);
        expect(traces(await store.heldSteps('default', 'session-2', 9))).toEqual(['d']);
        expect(await store.control('default', 'session-1')).toEqual(control);
      });

      it("leaves alone what another tenant's session of the same name holds", async () => {
        await store.appendSteps([
          buildStepRow({ trace_id: 'theirs', held: 1, tenant_id: 'other' }),
          buildStepRow({ trace_id: 'ours', held: 1 }),
        ]);
        const commit = await store.commitControl({ release: SESSION });
        expect(traces(commit.released)).toEqual(['ours']);
        expect(await store.heldCounts()).toEqual([{ ...SESSION, tenant_id: 'other', held_count: 1 }]);
      });

      it('keeps in mind what was released until it is in a saved row', async () => {
        await store.appendSteps([buildStepRow({ held: 1 }), buildStepRow({ held: 1 }), buildStepRow()]);
        const { released } = await store.commitControl({ release: SESSION });
        expect(await store.unfoldedReleases(0, 9)).toEqual(released);
        expect(await store.unfoldedReleases(0, 1)).toEqual(released.slice(0, 1));
        expect(await store.unfoldedReleases(released[0]?.seq ?? 0, 9)).toEqual(released.slice(1));
        await store.saveSessions([], 3);
        expect(await store.unfoldedReleases(0, 9)).toEqual(released);
        await store.saveSessions(
          [],
          3,
          released.slice(0, 1).map(({ seq }) => seq),
        );
        await reopen();
        expect(await store.unfoldedReleases(0, 9)).toEqual(released.slice(1));
      });

      it('reads no more than fits at once of what a crash left out of the saved rows', async () => {
        const long = [1, 2, 3, 4].map((index) => longStepRow(index, { held: index < 4 ? 1 : 0 }));
        await store.appendSteps(long);
        expect(traces(await store.stepsAfter(0, 100))).toEqual(['long-1', 'long-2']);
        expect(traces(await store.stepsAfter(2, 100))).toEqual(['long-3', 'long-4']);
        while ((await store.commitControl({ release: SESSION })).has_more_held);
        expect(traces(await store.unfoldedReleases(0, 100))).toEqual(['long-1', 'long-2']);
        expect(traces(await store.unfoldedReleases(2, 100))).toEqual(['long-3']);
      });

      it('releases no more than a piece at once, the oldest first', async () => {
        const count = RELEASED_STEPS_MAX + 1;
        await store.appendSteps(Array.from({ length: count }, () => buildStepRow({ held: 1 })));
        const all = traces(await store.heldSteps('default', 'session-1', count));
        const first = await store.commitControl({ release: SESSION });
        expect(traces(first.released)).toEqual(all.slice(0, -1));
        expect(first.has_more_held).toBe(true);
        const second = await store.commitControl({ release: SESSION });
        expect(traces(second.released)).toEqual(all.slice(-1));
        expect(second.has_more_held).toBe(false);
      });

      it('holds and releases long steps in shorter pieces, the oldest first', async () => {
        await store.appendSteps(Array.from({ length: 3 }, (_, index) => longStepRow(index, { held: 1 })));
        const shown = traces(await store.heldSteps('default', 'session-1', 100));
        expect(shown).toEqual(['long-0', 'long-1']);
        const first = await store.commitControl({ release: SESSION });
        expect(traces(first.released)).toEqual(shown);
        expect(first.has_more_held).toBe(true);
        const second = await store.commitControl({ release: SESSION });
        expect(traces(second.released)).toEqual(['long-2']);
        expect(second.has_more_held).toBe(false);
      });

      it('rewrites a held step and says who did; its resend is still the same step', async () => {
        const row = buildStepRow({ trace_id: 'a', held: 1 });
        await store.appendSteps([row]);
        const body = row.body.replace('read_file', 'list_files');
        const commit = await store.commitControl({
          audit: [buildAuditDraft({ action: 'rewrite' })],
          rewrite: { ...SESSION, trace_id: 'a', body, rewritten_by: 'ada' },
        });
        expect(commit.rewritten).toMatchObject({ held: true, rewritten_by: 'ada', log: JSON.parse(body) });
        expect((await store.appendSteps([row]))[0]?.duplicate).toBe(true);
        expect(await store.heldSteps('default', 'session-1', 9)).toEqual([commit.rewritten]);
      });

      it('writes nothing at all when the step to rewrite is not held', async () => {
        await store.appendSteps([buildStepRow({ trace_id: 'a', held: 0 })]);
        const commit = await store.commitControl({
          control: buildControlRow(),
          audit: [buildAuditDraft()],
          release: SESSION,
          rewrite: { ...SESSION, trace_id: 'a', body: '{}', rewritten_by: 'ada' },
        });
        expect(commit).toEqual({ audit: [], released: [], has_more_held: false, rewritten: null });
        expect(await store.control('default', 'session-1')).toBeNull();
        expect((await store.audit({ tenant_id: 'default', limit: 1 })).items).toEqual([]);
      });

      it('lists the sessions that are not plainly active, or have directives waiting', async () => {
        const directive = {
          directive_id: 'd1',
          seq: 1,
          type: 'inject' as const,
          issued_at_ms: 1,
          operator_id: 'ada',
          prompt: 'think again',
        };
        const rows = [
          buildControlRow({ session_id: 'plain', state: 'active' }),
          buildControlRow({
            session_id: 'waiting',
            state: 'active',
            directive_seq: 1,
            directives: [directive],
          }),
          buildControlRow({
            session_id: 'paused',
            state: 'paused',
            proxied: true,
            asked_by: ['clerk', 'planner'],
          }),
          buildControlRow({ session_id: 'ended', state: 'terminated' }),
        ];
        for (const control of rows) await store.commitControl({ control });
        const listed = await store.controls(9);
        expect(listed.map((row) => row.session_id).sort()).toEqual(['ended', 'paused', 'waiting']);
        expect(listed.find((row) => row.session_id === 'waiting')).toEqual(rows[1]);
        expect(listed.find((row) => row.session_id === 'paused')).toEqual(rows[2]);
      });

      it('lists of terminated sessions so many, of each tenant by turns its latest, latest last', async () => {
        const ended = (tenant_id: string, since_ms: number) =>
          buildControlRow({ tenant_id, session_id: `at-${since_ms}`, state: 'terminated', since_ms });
        const rows = [5, 1, 9, 7].map((at) => ended('loud', at));
        const all = [...rows, ended('quiet', 2), buildControlRow({ state: 'paused', since_ms: 0 })];
        for (const control of all) await store.commitControl({ control });
        const listed = async (endedMax: number) =>
          (await store.controls(endedMax)).map((row) => `${row.state} ${row.tenant_id} ${row.since_ms}`);
        expect(await listed(0)).toEqual(['paused default 0']);
        expect(await listed(3)).toEqual([
          'paused default 0',
          'terminated quiet 2',
          'terminated loud 7',
          'terminated loud 9',
        ]);
      });
    });

    describe('audit', () => {
      it('numbers entries per tenant without a gap, though many commands come at once', async () => {
        const tenants = ['default', 'other'];
        await Promise.all(
          Array.from({ length: 40 }, (_, index) =>
            store.commitControl({ audit: [buildAuditDraft({ tenant_id: tenants[index % 2] ?? '' })] }),
          ),
        );
        for (const tenant_id of tenants) {
          const { items } = await store.audit({ tenant_id, limit: 100, order: 'asc' });
          expect(items.map((entry) => entry.seq)).toEqual(
            Array.from({ length: 20 }, (_, index) => index + 1),
          );
          expect(await store.verifyAudit(tenant_id)).toEqual({
            ok: true,
            entry_count: 20,
            broken_at_seq: null,
          });
        }
      });

      it('goes on with the chain after a restart', async () => {
        await store.commitControl({ audit: [buildAuditDraft()] });
        await reopen();
        const { audit } = await store.commitControl({ audit: [buildAuditDraft()] });
        expect(audit[0]?.seq).toBe(2);
        expect((await store.verifyAudit('default')).ok).toBe(true);
      });

      it('lists by session, newest first, and keeps any detail', async () => {
        const detail = { prompt: 'Ü "quoted" \u0000 \ud83d\ude00', nested: [1, null, { b: 1, a: -0.5 }] };
        await store.commitControl({
          audit: [buildAuditDraft({ detail }), buildAuditDraft({ session_id: null })],
        });
        await store.commitControl({ audit: [buildAuditDraft({ operator_id: 'half \ud83d of one' })] });
        const all = await store.audit({ tenant_id: 'default', limit: 10 });
        expect(all.items.map((entry) => entry.seq)).toEqual([3, 2, 1]);
        const ofSession = await store.audit({ tenant_id: 'default', session_id: 'session-1', limit: 10 });
        expect(ofSession.items.map((entry) => entry.seq)).toEqual([3, 1]);
        expect(ofSession.items[1]?.detail).toEqual(detail);
        expect((await store.verifyAudit('default')).ok).toBe(true);
      });

      it('ends a page of the audit with the entry that fills it, goes on behind that, and verifies all', async () => {
        const detail = { new_content: 'x'.repeat(AUDIT_READ_CHARS_MAX / 2) };
        for (let count = 0; count < 5; count += 1)
          await store.commitControl({ audit: [buildAuditDraft({ detail })] });
        const query = { tenant_id: 'default', limit: 5, order: 'asc' } as const;
        const first = await store.audit(query);
        expect(first.items.map(({ seq }) => seq)).toEqual([1, 2]);
        const second = await store.audit({ ...query, cursor: first.next_cursor ?? undefined });
        expect(second.items.map(({ seq }) => seq)).toEqual([3, 4]);
        const third = await store.audit({ ...query, cursor: second.next_cursor ?? undefined });
        expect(third).toMatchObject({ items: [{ seq: 5, detail }], next_cursor: null });
        expect(await store.verifyAudit('default')).toEqual({ ok: true, entry_count: 5, broken_at_seq: null });
      });

      it('verifies an empty audit as whole', async () => {
        expect(await store.verifyAudit('default')).toEqual({ ok: true, entry_count: 0, broken_at_seq: null });
      });
    });

    describe('alerts and violations', () => {
      it('folds the alerts of a session into one group', async () => {
        await store.appendAlert('default', buildAlertEvent({ at_ms: 10 }));
        const latest = buildAlertEvent({ at_ms: 20, occurrence_count: 4 });
        await store.appendAlert('default', latest);
        await store.appendAlert('other', buildAlertEvent({ at_ms: 30 }));
        expect(await store.alertGroup('default', 'session-1')).toEqual({
          session_id: 'session-1',
          agent_id: 'agent-1',
          alert_count: 2,
          first_at_ms: 10,
          last_at_ms: 20,
          latest,
        });
        expect(await store.alertGroup('default', 'session-2')).toBeNull();
      });

      it('pages through alerts of a tenant or of one session', async () => {
        for (const session_id of ['s1', 's2', 's1'])
          await store.appendAlert('default', buildAlertEvent({ session_id }));
        const first = await store.alerts({ tenant_id: 'default', limit: 2 });
        expect(first.items.map((alert) => alert.session_id)).toEqual(['s1', 's2']);
        const rest = await store.alerts({
          tenant_id: 'default',
          limit: 2,
          cursor: first.next_cursor ?? undefined,
        });
        expect(rest).toMatchObject({ items: [{ session_id: 's1' }], next_cursor: null });
        expect((await store.alerts({ tenant_id: 'default', session_id: 's1', limit: 9 })).items).toHaveLength(
          2,
        );
      });

      it('keeps a violation exactly as published', async () => {
        const event = buildViolationEvent();
        await store.appendViolation('default', event);
        const { items } = await store.violations({ tenant_id: 'default', limit: 1 });
        expect(items).toEqual([{ ...event, seq: expect.any(Number) }]);
        expect((await store.violations({ tenant_id: 'other', limit: 1 })).items).toEqual([]);
      });
    });

    describe('access and settings', () => {
      it('saves and replaces keys, operators and logins', async () => {
        const common = {
          prefix: 'p',
          created_at_ms: 1,
          created_by: 'ada',
          last_used_at_ms: null,
          revoked_at_ms: null,
        };
        const key = { key_id: 'k', tenant_id: 'default', name: 'ci', secret_hash: 'x', ...common };
        const operator = {
          token_id: 't',
          name: 'ada',
          role: 'admin' as const,
          tenant_ids: ['*'],
          secret_hash: 'y',
          ...common,
        };
        await store.saveAgentKey(key);
        await store.saveAgentKey(
          { ...key, revoked_at_ms: 5 },
          buildAuditDraft({ action: 'agent_key.revoke' }),
        );
        await store.saveOperator(operator, buildAuditDraft({ action: 'operator.create' }));
        await store.saveAgentKey({ ...key, key_id: 'gone' });
        await store.deleteAgentKey('gone');
        await store.saveOperator({ ...operator, token_id: 'gone' });
        await store.deleteOperator('gone');
        const login = { token_id: 't', operator_id: 'ada', tenant_id: 'default', expires_at_ms: 9e15 };
        await store.saveLogin({ cookie_hash: 'a', ...login });
        await store.saveLogin({ cookie_hash: 'b', ...login });
        await store.deleteLogin('a');
        await reopen();
        expect(await store.agentKeys()).toEqual([{ ...key, revoked_at_ms: 5 }]);
        expect(await store.operators()).toEqual([operator]);
        const { items } = await store.audit({ tenant_id: 'default', limit: 9 });
        expect(items.map(({ action }) => action)).toEqual(['operator.create', 'agent_key.revoke']);
        expect(await store.logins()).toEqual([{ cookie_hash: 'b', ...login }]);
      });

      it('keeps settings of any JSON type until they are deleted', async () => {
        const of = { of: ['any', 'type', null] };
        await store.saveSettings(new Map<string, unknown>(Object.entries({ a: 0.25, b: of, c: null })));
        const audit = buildAuditDraft({ action: 'config.update' });
        await store.saveSettings(new Map(Object.entries({ a: 'replaced', c: undefined })), audit);
        await reopen();
        const { items } = await store.audit({ tenant_id: 'default', limit: 9 });
        expect(items.map(({ action }) => action)).toEqual(['config.update']);
        expect(await store.settings()).toEqual(
          new Map<string, unknown>([
            ['a', 'replaced'],
            ['b', of],
          ]),
        );
      });
    });

    it('reserves each live sequence number once, across restarts', async () => {
      expect(await store.reserveSequences(10, 1)).toBe(1);
      expect(await store.reserveSequences(1, 1)).toBe(11);
      await reopen();
      expect(await store.reserveSequences(1_000, 12)).toBe(12);
      expect(await store.reserveSequences(1, 2e15)).toBe(2e15);
      await reopen();
      expect(await store.reserveSequences(1, 1)).toBe(2e15 + 1);
      await expect(store.reserveSequences(0, 1)).rejects.toThrow(RangeError);
    });

    it('commits what is queued before it closes, and refuses what comes later', async () => {
      const writes = Promise.all(Array.from({ length: 50 }, () => store.appendSteps([buildStepRow()])));
      await store.close();
      expect((await writes).flat()).toHaveLength(50);
      await expect(store.appendSteps([buildStepRow()])).rejects.toMatchObject({ code: 'draining' });
      await expect(store.probe()).rejects.toMatchObject({ code: 'draining' });
      store = await place.open();
      expect(await store.stepsAfter(0, 100)).toHaveLength(50);
    });

    it('probes without complaint and counts nothing as queued once all is settled', async () => {
      await store.probe();
      const write = store.appendSteps([buildStepRow(), buildStepRow()]);
      expect(store.queuedCount).toBe(2);
      await write;
      expect(store.queuedCount).toBe(0);
      expect(store.refusal('default')).toBeNull();
    });
  });
}
