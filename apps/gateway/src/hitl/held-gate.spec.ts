import { describe, expect, it } from 'vitest';
import { RELEASED_STEPS_MAX, sessionKey } from '#contracts';
import { turn } from '#testing';
import { DeskHarness, operator, TENANT } from './desk.fixture.js';

const PAUSE = { reason: 'let me look' };

/** A paused session on a store that commits by hand from here on. */
async function pausedByHand() {
  const h = await DeskHarness.start();
  const key = await h.session();
  await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
  await h.step(key, 't-1');
  h.store.isManual = true;
  return { h, key };
}

describe('a resume while messages keep coming', () => {
  it('takes along a held message that reached the store before the release', async () => {
    const { h, key } = await pausedByHand();
    const stored = h.step(key, 't-2');
    const resumed = h.desk.execute(operator(), 's-1', 'resume', {});
    await turn();
    h.store.commit();
    expect(await resumed).toEqual({ status: 'ok', flushed_count: 2 });
    await stored;
    expect(h.published).toEqual(['s-1-first', 't-1', 't-2']);
    expect(h.desk.view(key).held_count).toBe(0);
  });

  it('strands none that reached the store behind the release, and publishes later ones after it', async () => {
    const { h, key } = await pausedByHand();
    const resumed = h.desk.execute(operator(), 's-1', 'resume', {});
    await turn();
    const behind = h.step(key, 't-2');
    expect(h.store.queuedCount).toBe(2);
    h.store.commit(1);
    await turn();
    expect(h.desk.isHolding(key)).toBe(true);
    const further = h.step(key, 't-3');
    h.store.commit(2);
    await turn();
    await turn();
    // The second release took t-2 only: t-3 is behind it, so there is a third.
    while (h.store.queuedCount > 0) {
      h.store.commit();
      await turn();
      await turn();
    }
    expect(await resumed).toEqual({ status: 'ok', flushed_count: 3 });
    await Promise.all([behind, further]);
    expect(h.desk.isHolding(key)).toBe(false);
    const after = h.step(key, 't-4');
    h.store.commit();
    await after;
    expect(h.published).toEqual(['s-1-first', 't-1', 't-2', 't-3', 't-4']);
    expect(h.store.steps.filter((step) => step.held)).toEqual([]);
  });

  it('lets many go in pieces, in order, and is closed until the last of them', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    const count = 2 * RELEASED_STEPS_MAX + 1;
    const traces = Array.from({ length: count }, (_, index) => `t-${index}`);
    for (const trace of traces) await h.step(key, trace);
    h.store.isManual = true;
    const resumed = h.desk.execute(operator(), 's-1', 'resume', {});
    for (const left of [count - RELEASED_STEPS_MAX, 1, 0]) {
      expect(h.desk.isHolding(key)).toBe(true);
      await turn();
      h.store.commit(1);
      await turn();
      expect(h.desk.view(key).held_count).toBe(left);
    }
    while (h.store.queuedCount > 0) {
      h.store.commit();
      await turn();
    }
    expect(await resumed).toEqual({ status: 'ok', flushed_count: count });
    expect(h.desk.isHolding(key)).toBe(false);
    expect(h.published).toEqual(['s-1-first', ...traces]);
  });

  it.each(['pause', 'terminate'] as const)(
    'stands aside for an operator’s %s in the middle of a long release',
    async (command) => {
      const h = await DeskHarness.start();
      const key = await h.session();
      await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
      const traces = Array.from({ length: 20 * RELEASED_STEPS_MAX }, (_, index) => `t-${index}`);
      for (const trace of traces) await h.step(key, trace);
      h.store.isManual = true;
      const resumed = h.desk.execute(operator(), 's-1', 'resume', {});
      let done = false;
      const commanded = h.desk.execute(operator('ben'), 's-1', command, PAUSE).then(() => {
        done = true;
      });
      for (let writes = 0; !done; writes += 1) {
        expect(writes).toBeLessThan(6);
        h.store.commit(1);
        await turn();
        await turn();
      }
      await commanded;
      const flushedCount = (await resumed).flushed_count as number;
      expect(flushedCount).toBeLessThan(traces.length);
      expect(h.desk.view(key).held_count).toBeGreaterThan(0);
      h.store.isManual = false;
      h.store.commit();
      await h.desk.settled();
      if (command === 'pause') {
        expect(h.desk.view(key)).toMatchObject({ state: 'pause_requested', operator_id: 'ben' });
        expect(h.published).toHaveLength(1 + traces.length - h.desk.view(key).held_count);
        await h.desk.execute(operator(), 's-1', 'resume', {});
      }
      expect(h.published).toEqual(['s-1-first', ...traces]);
      expect(h.desk.isHolding(key)).toBe(false);
    },
  );

  it('answers the resume of a session that floods, takes commands meanwhile, and keeps the order', async () => {
    const { h, key } = await pausedByHand();
    const resumed = h.desk.execute(operator(), 's-1', 'resume', {});
    const steps: Promise<unknown>[] = [];
    let injected: Promise<unknown> | undefined;
    for (let count = 2; count < 300; count += 1) {
      steps.push(h.step(key, `t-${count}`));
      if (count === 100) injected = h.desk.execute(operator(), 's-1', 'inject', { prompt: 'slow down' });
      await turn();
      h.store.commit();
      await turn();
      if (count === 200) {
        expect(await resumed).toMatchObject({ status: 'ok' });
        expect(await injected).toEqual({ status: 'ok' });
      }
    }
    h.store.isManual = false;
    h.store.commit();
    await Promise.all(steps);
    await h.desk.settled();
    await h.step(key, 't-300');
    expect(h.desk.isHolding(key)).toBe(false);
    expect(h.published).toEqual([
      's-1-first',
      ...Array.from({ length: 300 }, (_, index) => `t-${index + 1}`),
    ]);
  });

  it('keeps what is left of a release held when the operator pauses again', async () => {
    const { h, key } = await pausedByHand();
    const resumed = h.desk.execute(operator(), 's-1', 'resume', {});
    await turn();
    const behind = h.step(key, 't-2');
    const pausedAgain = h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    h.store.refuses = 'store_busy';
    h.store.commit();
    await resumed;
    await behind;
    await expect(pausedAgain).rejects.toMatchObject({ code: 'store_busy' });
    h.store.refuses = null;
    h.store.isManual = false;
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    await h.step(key, 't-3');
    expect(h.published).toEqual(['s-1-first', 't-1', 't-2']);
    await h.desk.execute(operator(), 's-1', 'resume', {});
    expect(h.published).toEqual(['s-1-first', 't-1', 't-2', 't-3']);
  });

  it('ends with a pause, and what is left is held until the next resume', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    const heldCount = 5 * RELEASED_STEPS_MAX;
    for (let count = 1; count <= heldCount; count += 1) await h.step(key, `t-${count}`);
    const resumed = h.desk.execute(operator(), 's-1', 'resume', {});
    await Promise.all([resumed, h.desk.execute(operator('bob'), 's-1', 'pause', PAUSE)]);
    await h.desk.settled();
    const leftCount = h.store.steps.filter((step) => step.held).length;
    expect(leftCount).toBeGreaterThan(0);
    expect(h.desk.view(key)).toMatchObject({ state: 'pause_requested', held_count: leftCount });
    expect(h.views.get(key)).toMatchObject({ state: 'pause_requested', held_count: leftCount });
    await h.desk.execute(operator(), 's-1', 'resume', {});
    await h.desk.settled();
    expect(h.published.slice(1)).toEqual(Array.from({ length: heldCount }, (_, at) => `t-${at + 1}`));
    expect(h.views.get(key)).toMatchObject({ state: 'active', held_count: 0 });
  });

  it('stays in order where the session is terminated, which is under control until all is out', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    const heldCount = 4 * RELEASED_STEPS_MAX;
    for (let count = 1; count <= heldCount; count += 1) await h.step(key, `t-${count}`);
    h.store.isManual = true;
    const terminated = h.desk.execute(operator(), 's-1', 'terminate', { reason: 'enough' });
    await turn();
    h.store.commit();
    await turn();
    h.store.isManual = false;
    const behind = h.step(key, 't-behind');
    h.store.commit();
    await Promise.all([terminated, behind]);
    await h.desk.settled();
    expect(h.published.slice(1)).toEqual([
      ...Array.from({ length: heldCount }, (_, at) => `t-${at + 1}`),
      't-behind',
    ]);
  });

  it('is over only when its last piece has been shown', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    const heldCount = RELEASED_STEPS_MAX + 1;
    for (let count = 1; count <= heldCount; count += 1) await h.step(key, `t-${count}`);
    let show = () => {};
    const commitControl = h.store.commitControl.bind(h.store);
    h.store.commitControl = (write) => {
      if (write.control === undefined)
        h.showing = new Promise((resolve) => {
          show = resolve;
        });
      return commitControl(write);
    };
    const resumed = h.desk.execute(operator(), 's-1', 'resume', {});
    for (let turns = 0; turns < 10; turns += 1) await turn();
    expect(h.store.steps.some((step) => step.held)).toBe(false);
    expect(h.desk.isHolding(key)).toBe(true);
    expect(h.published).toHaveLength(1 + RELEASED_STEPS_MAX);
    h.store.commitControl = commitControl;
    show();
    expect(await resumed).toEqual({ status: 'ok', flushed_count: heldCount });
    expect(h.published).toHaveLength(1 + heldCount);
    await h.desk.settled();
    expect(h.desk.isHolding(key)).toBe(false);
  });

  it('shows a message as held before it shows that it was released, though one commit did both', async () => {
    const { h, key } = await pausedByHand();
    expect(h.desk.isHolding(key)).toBe(true);
    const shown: string[] = [];
    const stored = h.store.appendStep(key, 't-2', true).then(async () => {
      // The ingest path has some way to go behind its commit.
      for (let hops = 0; hops < 10; hops += 1) await Promise.resolve();
      shown.push(h.events.some(({ kind }) => kind === 'released') ? 'too late' : 'held');
      h.desk.noteHeld(key);
    });
    const resumed = h.desk.execute(operator(), 's-1', 'resume', {});
    await turn();
    h.store.isManual = false;
    h.store.commit();
    await Promise.all([stored, resumed]);
    expect(shown).toEqual(['held']);
    expect(h.events.find(({ kind }) => kind === 'released')).toEqual({
      kind: 'released',
      trace_ids: ['t-1', 't-2'],
    });
  });

  it('releases a message that was stored as held too late', async () => {
    const h = await DeskHarness.start();
    const key = await h.session();
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    expect(h.desk.isHolding(key)).toBe(true);
    await h.desk.execute(operator(), 's-1', 'resume', {});
    await h.store.appendStep(key, 't-late', true);
    h.desk.noteHeld(key);
    await h.desk.settled();
    expect(h.published).toEqual(['s-1-first', 't-late']);
    expect(h.desk.view(key).held_count).toBe(0);
  });

  it('answers the resume and finishes the release later when the store refuses in between', async () => {
    const { h, key } = await pausedByHand();
    const resumed = h.desk.execute(operator(), 's-1', 'resume', {});
    await turn();
    const behind = h.step(key, 't-2');
    h.store.refuses = 'store_busy';
    h.store.commit();
    expect(await resumed).toEqual({ status: 'ok', flushed_count: 1 });
    await behind;
    expect(h.desk.isHolding(key)).toBe(true);
    // Refused once more.
    await h.time.pass(1_000);
    h.store.refuses = null;
    h.store.isManual = false;
    await h.time.pass(1_000);
    await h.desk.settled();
    expect(h.desk.isHolding(key)).toBe(false);
    expect(h.published).toEqual(['s-1-first', 't-1', 't-2']);
  });

  it('finishes after a restart what the process left held', async () => {
    const { h, key } = await pausedByHand();
    h.desk.execute(operator(), 's-1', 'resume', {});
    await turn();
    const behind = h.step(key, 't-2');
    h.store.commit();
    await behind;
    await turn();
    expect(h.store.queuedCount).toBe(1);
    h.store.loseQueued();
    h.store.isManual = false;
    const next = await h.restart();
    expect(next.published).toEqual(['t-2']);
    expect(next.desk.isHolding(key)).toBe(false);
  });

  it('holds and releases each session by itself, and each tenant', async () => {
    const h = await DeskHarness.start();
    await h.session('s-1');
    const other = await h.session('s-2');
    const foreign = await h.session('s-1', 'acme');
    await h.desk.execute(operator(), 's-1', 'pause', PAUSE);
    expect(h.desk.isHolding(sessionKey(TENANT, 's-1'))).toBe(true);
    expect(h.desk.isHolding(other)).toBe(false);
    expect(h.desk.isHolding(foreign)).toBe(false);
  });
});
