import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { NODE_STATES, topologyChangeSchema } from '#contracts';
import { FakeClock, liveBytes } from '#testing';
import { nodeIdOf, Topology, type TopologyLimits, type TopologySession, type TopologyStep } from './index.js';

const START_MS = 1_800_000_000_000;

describe('Topology', () => {
  let clock: FakeClock;
  let topology: Topology;

  const create = (limits: Partial<TopologyLimits> = {}) => {
    clock = new FakeClock(START_MS);
    topology = new Topology({ clock, limits });
  };
  const record = (step: Partial<TopologyStep>) =>
    topology.recordStep({
      session_id: 's',
      agent_id: 'a',
      agent_type: 'researcher',
      trace_id: 't1',
      parent_step_id: null,
      at_ms: clock.nowMs(),
      received_at_ms: clock.nowMs(),
      intent: 'search',
      status: 'success',
      ...step,
    });
  const sweepAfter = (ms: number) => {
    clock.advance(ms);
    topology.sweep();
  };
  const node = (agentId = 'a', sessionId = 's') =>
    topology.snapshot().nodes.find(({ node_id }) => node_id === nodeIdOf(sessionId, agentId));
  const state = (agentId?: string, sessionId?: string) => node(agentId, sessionId)?.state;
  const edge = (from: string, to: string, sessionId = 's') =>
    topology
      .snapshot()
      .edges.find((one) => one.from === nodeIdOf(sessionId, from) && one.to === nodeIdOf(sessionId, to));

  beforeEach(() => create());

  describe('nodes', () => {
    it('shows one node per agent and session', () => {
      record({ trace_id: 't1' });
      record({ trace_id: 't2', intent: 'read' });
      record({ trace_id: 't3', session_id: 's2' });
      expect(topology.snapshot().nodes).toHaveLength(2);
      expect(node()).toEqual({
        node_id: 's/a',
        agent_id: 'a',
        session_id: 's',
        state: 'active',
        agent_type: 'researcher',
        last_intent: 'read',
        step_count: 2,
        last_seen_ms: START_MS,
        ghost: false,
      });
    });

    it('gives different pairs different ids, whatever characters they hold', () => {
      expect(
        new Set([nodeIdOf('a/b', 'c'), nodeIdOf('a', 'b/c'), nodeIdOf('a~1b', 'c'), nodeIdOf('', 'c')]).size,
      ).toBe(4);
    });

    it('cuts a long intent', () => {
      record({ intent: 'x'.repeat(4_000) });
      expect(node()?.last_intent).toHaveLength(120);
    });

    it.each(NODE_STATES)('can reach the state %s', (wanted) => {
      record({});
      if (wanted === 'schema_violation') topology.recordViolation('a', clock.nowMs());
      else if (wanted === 'dead') topology.endSession('s');
      else if (wanted === 'idle') sweepAfter(60_000);
      else topology.setNodeState('s', 'a', wanted);
      expect(state()).toBe(wanted);
      expect(topologyChangeSchema.parse(topology.snapshot())).toEqual(topology.snapshot());
    });

    it('keeps what the tracker said about a node through further steps', () => {
      record({ trace_id: 't1' });
      topology.setNodeState('s', 'a', 'alert_entropy');
      record({ trace_id: 't2' });
      expect(state()).toBe('alert_entropy');
      topology.setNodeState('s', 'a', 'active');
      expect(state()).toBe('active');
    });

    it('keeps a state set before the first step, and only so many of them', () => {
      create({ earlyStateCountMax: 2 });
      for (const agent of ['a', 'b', 'c']) topology.setNodeState('s', agent, 'alert_entropy');
      for (const agent of ['a', 'b', 'c']) record({ agent_id: agent, trace_id: agent });
      expect([state('a'), state('b'), state('c')]).toEqual(['active', 'alert_entropy', 'alert_entropy']);
    });

    it('turns idle after 60 s of silence and active with the next step', () => {
      record({ trace_id: 't1' });
      sweepAfter(59_999);
      expect(state()).toBe('active');
      sweepAfter(1);
      expect(state()).toBe('idle');
      record({ trace_id: 't2' });
      expect(state()).toBe('active');
    });

    it('stays red while it is silent, and leaves after half an hour', () => {
      record({});
      topology.setNodeState('s', 'a', 'alert_entropy');
      sweepAfter(29 * 60_000);
      expect(state()).toBe('alert_entropy');
      sweepAfter(60_000);
      expect(node()).toBeUndefined();
    });

    it('shows an ended session as dead for a minute', () => {
      record({ agent_id: 'a', trace_id: 't1' });
      record({ agent_id: 'b', trace_id: 't2' });
      topology.endSession('s');
      expect([state('a'), state('b')]).toEqual(['dead', 'dead']);
      record({ agent_id: 'a', trace_id: 't3' });
      topology.setNodeState('s', 'a', 'active');
      expect(state('a')).toBe('dead');
      sweepAfter(59_999);
      expect(state('a')).toBe('dead');
      topology.endSession('s');
      sweepAfter(1);
      expect(topology.snapshot()).toEqual({ nodes: [], edges: [] });
    });

    it('[FR-9.4+] shows a session that said it had ended and loops as what it is, unless it was terminated', () => {
      const loopAfter = (isTerminated: boolean) => {
        record({ trace_id: 't1' });
        record({ agent_id: 'b', trace_id: 't1b' });
        topology.endSession('s', isTerminated);
        topology.setNodeState('s', 'a', 'alert_entropy');
        record({ trace_id: 't2' });
        sweepAfter(60_000);
        return [state(), state('b')];
      };
      expect(loopAfter(false)).toEqual(['alert_entropy', 'idle']);
      create();
      expect(loopAfter(true)).toEqual([undefined, undefined]);
    });

    it('ignores the end of a session it does not know', () => {
      topology.endSession('nobody');
      expect(topology.drainChanges()).toBeNull();
    });

    it('makes room by dropping the oldest idle or dead node first, and counts it', () => {
      create({ nodeCountMax: 3 });
      record({ session_id: 's1', trace_id: 't1' });
      clock.advance(30_000);
      record({ session_id: 's2', trace_id: 't2' });
      record({ session_id: 's3', trace_id: 't3' });
      topology.endSession('s3');
      record({ session_id: 's4', trace_id: 't4' });
      expect(node('a', 's3')).toBeUndefined();
      record({ session_id: 's5', trace_id: 't5' });
      expect(node('a', 's1')).toBeUndefined();
      expect(topology.nodeCount).toBe(3);
      expect(topology.counts.nodesPruned).toBe(2);
    });

    it('makes room by dropping what has been silent longest, not what came first', () => {
      create({ nodeCountMax: 3 });
      for (const session_id of ['s1', 's2', 's3', 's1', 's4']) {
        record({ session_id });
        clock.advance(1_000);
      }
      expect(topology.snapshot().nodes.map((one) => one.session_id)).toEqual(['s1', 's3', 's4']);
    });

    it('goes on with a session whose last node had to make room', () => {
      create({ nodeCountMax: 1 });
      record({ agent_id: 'a', trace_id: 't1' });
      record({ agent_id: 'b', trace_id: 't2' });
      topology.endSession('s');
      expect(topology.snapshot().nodes.map(({ agent_id, state }) => [agent_id, state])).toEqual([
        ['b', 'dead'],
      ]);
    });
  });

  describe('a session from before the start', () => {
    const restore = (row: Partial<TopologySession> = {}) =>
      topology.restore({
        session_id: 's',
        agent_id: 'a',
        agent_type: 'researcher',
        last_intent: 'search',
        last_seen_ms: clock.nowMs() - 60_000,
        state: 'alert_entropy',
        ...row,
      });

    it('shows the agent of its latest step as it was, and counts what it does from then on', () => {
      restore();
      const before = {
        state: 'alert_entropy',
        agent_type: 'researcher',
        last_intent: 'search',
        step_count: 0,
        last_seen_ms: START_MS - 60_000,
      };
      expect(node()).toMatchObject(before);
      record({ intent: 'read' });
      expect(topology.snapshot().nodes).toHaveLength(1);
      expect(node()).toMatchObject({ ...before, last_intent: 'read', step_count: 1, last_seen_ms: START_MS });
    });

    it('links its agents as they step, and turns idle and leaves like any other', () => {
      restore({ state: 'active' });
      record({ agent_id: 'b', trace_id: 't1' });
      record({ agent_id: 'a', trace_id: 't2', parent_step_id: 't1' });
      expect(edge('b', 'a')).toBeDefined();
      restore({ session_id: 's2', state: 'active' });
      sweepAfter(0);
      expect(state('a', 's2')).toBe('idle');
      sweepAfter(29 * 60_000);
      expect(node('a', 's2')).toBeUndefined();
    });

    it('is not shown where it has ended, or would have left the map', () => {
      restore({ state: 'dead' });
      restore({ last_seen_ms: START_MS - 30 * 60_000 });
      expect(topology.snapshot().nodes).toEqual([]);
      restore({ last_seen_ms: START_MS - 30 * 60_000 + 1 });
      expect(topology.nodeCount).toBe(1);
    });

    it('takes no place beyond the bound', () => {
      create({ nodeCountMax: 3 });
      for (const session_id of ['s1', 's2', 's3', 's4']) restore({ session_id });
      expect(topology.nodeCount).toBe(3);
    });
  });

  describe('whoever sets the wall clock', () => {
    it('forward empties no map', () => {
      record({});
      topology.recordViolation('unknown', clock.nowMs());
      clock.set(clock.nowMs() + 86_400_000);
      sweepAfter(1_000);
      expect([state(), state('unknown', '')]).toEqual(['active', 'schema_violation']);
    });

    it('back keeps no node, no violation and no ended session on it for longer', () => {
      record({ session_id: 's1' });
      record({ session_id: 's2', trace_id: 't2' });
      topology.recordViolation('a', clock.nowMs());
      topology.endSession('s2');
      clock.set(clock.nowMs() - 86_400_000);
      sweepAfter(60_000);
      expect([state('a', 's1'), state('a', 's2')]).toEqual(['idle', undefined]);
      sweepAfter(29 * 60_000);
      expect(topology.nodeCount).toBe(0);
    });
  });

  describe('violations', () => {
    it('colours every node of the agent for 30 s, then shows what it was', () => {
      record({ session_id: 's1', trace_id: 't1' });
      record({ session_id: 's2', trace_id: 't2' });
      topology.setNodeState('s2', 'a', 'blocked');
      topology.recordViolation('a', clock.nowMs());
      expect([state('a', 's1'), state('a', 's2')]).toEqual(['schema_violation', 'schema_violation']);
      sweepAfter(29_999);
      expect(state('a', 's1')).toBe('schema_violation');
      sweepAfter(1);
      expect([state('a', 's1'), state('a', 's2')]).toEqual(['active', 'blocked']);
    });

    it('is forgiven by the next valid message, and shows again with the next refused one', () => {
      record({ trace_id: 't1' });
      topology.recordViolation('a', clock.nowMs());
      record({ trace_id: 't2' });
      expect(state()).toBe('active');
      topology.recordViolation('a', clock.nowMs());
      expect(state()).toBe('schema_violation');
    });

    it('counts the 30 s from the latest refused message', () => {
      record({});
      topology.recordViolation('a', clock.nowMs());
      sweepAfter(20_000);
      topology.recordViolation('a', clock.nowMs());
      sweepAfter(20_000);
      expect(state()).toBe('schema_violation');
    });

    it('keeps a state that is set meanwhile for afterwards', () => {
      record({});
      topology.recordViolation('a', clock.nowMs());
      topology.setNodeState('s', 'a', 'alert_entropy');
      expect(state()).toBe('schema_violation');
      sweepAfter(30_000);
      expect(state()).toBe('alert_entropy');
    });

    it('shows an agent never seen as a ghost, which fades and leaves', () => {
      topology.recordViolation('unknown', clock.nowMs());
      expect(node('unknown', '')).toMatchObject({ session_id: '', state: 'schema_violation', ghost: true });
      sweepAfter(30_000);
      expect(state('unknown', '')).toBe('idle');
      sweepAfter(5 * 60_000);
      expect(topology.nodeCount).toBe(0);
    });

    it('keeps a ghost for 5 minutes from the latest refused message, and shows when that was', () => {
      topology.recordViolation('unknown', clock.nowMs());
      topology.drainChanges();
      clock.advance(5 * 60_000 - 1);
      topology.recordViolation('unknown', clock.nowMs());
      expect(topology.drainChanges()?.nodes).toMatchObject([{ last_seen_ms: clock.nowMs() }]);
      sweepAfter(5 * 60_000 - 1);
      expect(topology.nodeCount).toBe(1);
      sweepAfter(1);
      expect(topology.nodeCount).toBe(0);
    });

    it('replaces the ghost when the agent becomes real', () => {
      topology.recordViolation('a', clock.nowMs());
      topology.drainChanges();
      record({});
      expect(topology.snapshot().nodes.map(({ node_id }) => node_id)).toEqual(['s/a']);
      expect(topology.drainChanges()?.removed).toEqual(['/a']);
    });

    it('keeps only so many ghosts', () => {
      create({ ghostCountMax: 2 });
      for (const agent of ['x', 'y', 'x', 'z']) topology.recordViolation(agent, clock.nowMs());
      expect(
        topology
          .snapshot()
          .nodes.map(({ agent_id }) => agent_id)
          .sort(),
      ).toEqual(['x', 'z']);
    });
  });

  describe('causal edges', () => {
    it("lead from the parent's agent to the child's", () => {
      record({ agent_id: 'a', trace_id: 't1', at_ms: 1_000 });
      record({ agent_id: 'b', trace_id: 't2', parent_step_id: 't1', at_ms: 1_250, status: 'failure' });
      expect(topology.snapshot().edges).toEqual([
        { from: 's/a', to: 's/b', traffic_volume: 1, latency_ms: 250, status: 'failure' },
      ]);
    });

    it('do not lead from an agent to itself', () => {
      record({ trace_id: 't1' });
      record({ trace_id: 't2', parent_step_id: 't1' });
      expect(topology.edgeCount).toBe(0);
    });

    it('carry the median of the latest 31 latencies and the latest status', () => {
      record({ agent_id: 'a', trace_id: 'root', at_ms: 0 });
      for (let index = 0; index < 40; index += 1) {
        // The first nine are slow and have left the sample by the end.
        record({
          agent_id: 'b',
          trace_id: `t${index}`,
          parent_step_id: 'root',
          at_ms: index < 9 ? 90_000 : 100 + index,
        });
      }
      expect(edge('a', 'b')).toMatchObject({ traffic_volume: 40, latency_ms: 124, status: 'success' });
    });

    it('carry the mean of the two latencies in the middle of an even number', () => {
      record({ agent_id: 'a', trace_id: 'root', at_ms: 0 });
      for (const at_ms of [100, 400, 200, 900])
        record({ agent_id: 'b', trace_id: `t${at_ms}`, parent_step_id: 'root', at_ms });
      expect(edge('a', 'b')).toMatchObject({ latency_ms: 300 });
    });

    it('count a child dated before its parent as taking no time', () => {
      record({ agent_id: 'a', trace_id: 't1', at_ms: 5_000 });
      record({ agent_id: 'b', trace_id: 't2', parent_step_id: 't1', at_ms: 4_000 });
      expect(edge('a', 'b')?.latency_ms).toBe(0);
    });

    it('wait for a parent that comes after its child', () => {
      record({ agent_id: 'b', trace_id: 't2', parent_step_id: 't1' });
      expect(topology.edgeCount).toBe(0);
      sweepAfter(4_000);
      record({ agent_id: 'a', trace_id: 't1' });
      expect(edge('a', 'b')).toMatchObject({ traffic_volume: 1 });
      sweepAfter(5_000);
      expect(topology.edgeCount).toBe(1);
    });

    it('lead to each of two steps with one trace id, whether their parent comes before or after them', () => {
      const named = (trace_id: string) => ({ trace_id, parent_step_id: 't1' });
      record({ agent_id: 'b', ...named('t2') });
      record({ agent_id: 'c', ...named('t2') });
      record({ agent_id: 'a', trace_id: 't1' });
      record({ agent_id: 'd', ...named('t3') });
      record({ agent_id: 'e', ...named('t3') });
      expect(topology.snapshot().edges.map(({ to }) => to)).toEqual(['s/b', 's/c', 's/d', 's/e']);
    });

    it('link a child whose parent does not come in 5 s as an orphan, and still attach it later', () => {
      record({ agent_id: 'c', trace_id: 't0' });
      record({ agent_id: 'b', trace_id: 't2', parent_step_id: 't1' });
      sweepAfter(4_999);
      expect(topology.edgeCount).toBe(0);
      sweepAfter(1);
      expect(edge('c', 'b')).toMatchObject({ traffic_volume: 1 });
      record({ agent_id: 'a', trace_id: 't1', parent_step_id: 't0' });
      expect(edge('a', 'b')).toMatchObject({ traffic_volume: 1 });
    });

    it('refuse a step that is its own parent', () => {
      expect(record({ trace_id: 't1', parent_step_id: 't1' })).toContain('would be its own ancestor');
      expect(topology.edgeCount).toBe(0);
      expect(topology.counts.cyclesRefused).toBe(1);
    });

    it('refuse a parent chain that leads back through a reused trace id', () => {
      record({ agent_id: 'a', trace_id: 't1' });
      record({ agent_id: 'b', trace_id: 't2', parent_step_id: 't1' });
      record({ agent_id: 'c', trace_id: 't3', parent_step_id: 't2' });
      expect(record({ agent_id: 'd', trace_id: 't1', parent_step_id: 't3' })).not.toBeNull();
      expect(edge('c', 'd')).toBeUndefined();
      expect(topology.edgeCount).toBe(2);
    });

    it('refuse a cycle that is closed by a late parent', () => {
      record({ agent_id: 'b', trace_id: 't2', parent_step_id: 't1' });
      expect(record({ agent_id: 'a', trace_id: 't1', parent_step_id: 't2' })).not.toBeNull();
      expect(edge('b', 'a')).toBeUndefined();
      expect(edge('a', 'b')).toMatchObject({ traffic_volume: 1 });
    });

    it('may lead both ways between two agents', () => {
      record({ agent_id: 'a', trace_id: 't1' });
      record({ agent_id: 'b', trace_id: 't2', parent_step_id: 't1' });
      expect(record({ agent_id: 'a', trace_id: 't3', parent_step_id: 't2' })).toBeNull();
      expect(topology.edgeCount).toBe(2);
    });

    it('find a parent among the latest steps only', () => {
      create({ stepCountMax: 2 });
      record({ agent_id: 'a', trace_id: 't1' });
      record({ agent_id: 'a', trace_id: 't2' });
      record({ agent_id: 'a', trace_id: 't3' });
      record({ agent_id: 'b', trace_id: 't4', parent_step_id: 't1' });
      record({ agent_id: 'c', trace_id: 't5', parent_step_id: 't4' });
      expect(topology.snapshot().edges.map(({ from, to }) => [from, to])).toEqual([['s/b', 's/c']]);
    });

    it('find the latest step of a session however many others came since', () => {
      create({ stepCountMax: 3 });
      record({ session_id: 'quiet', agent_id: 'a', trace_id: 't1' });
      record({ session_id: 'quiet', agent_id: 'b', trace_id: 't2' });
      for (const trace of ['t1', 't2', 't3']) record({ session_id: 'busy', agent_id: 'a', trace_id: trace });
      record({ session_id: 'quiet', agent_id: 'c', trace_id: 't8', parent_step_id: 't1' });
      record({ session_id: 'quiet', agent_id: 'd', trace_id: 't9', parent_step_id: 't8' });
      expect(edge('a', 'c', 'quiet')).toBeUndefined();
      expect(edge('c', 'd', 'quiet')).toMatchObject({ traffic_volume: 1 });
    });

    it('find a parent in their own session however many sessions name their steps alike', () => {
      const sessions = Array.from({ length: 200 }, (_, at) => `s${at}`);
      for (const [at, trace] of ['t1', 't2'].entries())
        for (const session_id of sessions) record({ session_id, agent_id: 'ab'[at], trace_id: trace });
      for (const session_id of sessions)
        record({ session_id, agent_id: 'c', trace_id: 't3', parent_step_id: 't1' });
      expect(sessions.filter((session) => edge('a', 'c', session) === undefined)).toEqual([]);
    });

    it('find a parent in their own session only', () => {
      record({ session_id: 's1', agent_id: 'a', trace_id: 't1' });
      record({ session_id: 's1', agent_id: 'a', trace_id: 't2' });
      record({ session_id: 's2', agent_id: 'b', trace_id: 't3' });
      record({ session_id: 's2', agent_id: 'c', trace_id: 't4', parent_step_id: 't1' });
      sweepAfter(5_000);
      expect(topology.snapshot().edges.map(({ from, to }) => [from, to])).toEqual([['s2/b', 's2/c']]);
    });

    it('forget a step that waits for its parent when its place is taken', () => {
      create({ stepCountMax: 2 });
      record({ agent_id: 'b', trace_id: 't2', parent_step_id: 't1' });
      record({ agent_id: 'b', trace_id: 't3', parent_step_id: 't2' });
      record({ agent_id: 'b', trace_id: 't4', parent_step_id: 't3' });
      record({ agent_id: 'a', trace_id: 't1' });
      expect(edge('a', 'b')).toBeUndefined();
    });

    it('wait on where another that waits for the same parent is forgotten', () => {
      create({ stepCountMax: 2 });
      for (const [agent_id, trace_id] of [
        ['b', 't2'],
        ['c', 't3'],
      ] as const)
        record({ agent_id, trace_id, parent_step_id: 't1' });
      record({ agent_id: 'c', trace_id: 't4' });
      record({ agent_id: 'a', trace_id: 't1' });
      expect(edge('a', 'b')).toBeUndefined();
      expect(edge('a', 'c')).toMatchObject({ traffic_volume: 1 });
    });

    it('find the latest of two steps with one trace id', () => {
      record({ agent_id: 'a', trace_id: 't1', at_ms: 1_000 });
      record({ agent_id: 'b', trace_id: 't1', at_ms: 2_000 });
      record({ agent_id: 'b', trace_id: 't2', at_ms: 3_000 });
      record({ agent_id: 'c', trace_id: 't3', at_ms: 4_000, parent_step_id: 't1' });
      expect(edge('a', 'c')).toBeUndefined();
      expect(edge('b', 'c')).toMatchObject({ latency_ms: 2_000 });
    });

    it('leave nothing in memory of the steps that were forgotten', async () => {
      create({ stepCountMax: 1_000 });
      const recordSome = async (round: number) => {
        clock.advance(1_000);
        for (let step = 0; step < 5_000; step += 1)
          record({ session_id: `s${step % 10}`, trace_id: `${round}-${step}-${'x'.repeat(100)}` });
        await setImmediate();
      };
      await recordSome(0);
      const before = liveBytes();
      for (let round = 1; round <= 10; round += 1) await recordSome(round);
      // A round's steps take 1.5 MB.
      expect(liveBytes() - before).toBeLessThan(3e6);
    });

    it('keep of sessions that left the map no more than their steps', async () => {
      const sessionCount = 20_000;
      create({ nodeCountMax: 100, stepCountMax: sessionCount });
      const before = liveBytes();
      for (let session = 0; session < sessionCount; session += 1) {
        record({
          session_id: `session-${session}`,
          agent_id: `agent-${session % 50}`,
          trace_id: `t-${session}`,
        });
        if (session % 100 === 0) while (topology.drainChanges() !== null);
      }
      await setImmediate();
      // A session, its node and their maps take 1,500 more.
      expect((liveBytes() - before) / sessionCount).toBeLessThan(500);
    });

    it('leave nothing in memory once the last session has left', async () => {
      const before = liveBytes();
      for (let step = 0; step < 20_000; step += 1)
        record({ session_id: `s${step % 10}`, trace_id: `${step}-${'x'.repeat(100)}` });
      await setImmediate();
      // About 5 MB.
      expect(liveBytes() - before).toBeGreaterThan(3e6);
      sweepAfter(30 * 60_000);
      expect(topology.nodeCount).toBe(0);
      while (topology.drainChanges() !== null);
      await setImmediate();
      expect(liveBytes() - before).toBeLessThan(1e6);
    });

    it('are refused and counted beyond their bound', () => {
      create({ edgeCountMax: 1 });
      record({ agent_id: 'a', trace_id: 't1' });
      record({ agent_id: 'b', trace_id: 't2', parent_step_id: 't1' });
      record({ agent_id: 'c', trace_id: 't3', parent_step_id: 't1' });
      expect(topology.edgeCount).toBe(1);
      expect(topology.counts.edgesRefused).toBe(1);
    });

    it('go when one of their nodes goes', () => {
      record({ agent_id: 'a', trace_id: 't1' });
      clock.advance(60_000);
      record({ agent_id: 'b', trace_id: 't2', parent_step_id: 't1' });
      sweepAfter(29 * 60_000);
      expect(topology.snapshot()).toMatchObject({ nodes: [{ agent_id: 'b' }], edges: [] });
      expect(topology.edgeCount).toBe(0);
    });
  });

  describe('hand-overs', () => {
    it('link agents of one session in order of appearance', () => {
      for (const [index, agent] of ['a', 'b', 'b', 'c', 'a', 'b'].entries()) {
        record({ agent_id: agent, trace_id: `t${index}`, at_ms: index * 100 });
      }
      expect(
        topology.snapshot().edges.map(({ from, to, traffic_volume }) => [from, to, traffic_volume]),
      ).toEqual([
        ['s/a', 's/b', 2],
        ['s/b', 's/c', 1],
        ['s/c', 's/a', 1],
      ]);
    });

    it('do not link agents of different sessions', () => {
      record({ session_id: 's1', agent_id: 'a' });
      record({ session_id: 's2', agent_id: 'b' });
      expect(topology.edgeCount).toBe(0);
    });

    it('do not link parallel workers of one parent', () => {
      record({ agent_id: 'lead', trace_id: 't1' });
      record({ agent_id: 'b', trace_id: 't2', parent_step_id: 't1' });
      record({ agent_id: 'c', trace_id: 't3', parent_step_id: 't1' });
      record({ agent_id: 'b', trace_id: 't4', parent_step_id: 't2' });
      expect(edge('b', 'c')).toBeUndefined();
      expect(edge('c', 'b')).toBeUndefined();
    });

    it('do not link agents whose relation is causal', () => {
      record({ agent_id: 'a', trace_id: 't1' });
      record({ agent_id: 'b', trace_id: 't2', parent_step_id: 't1' });
      record({ agent_id: 'a', trace_id: 't3' });
      record({ agent_id: 'b', trace_id: 't4' });
      expect(topology.edgeCount).toBe(1);
      expect(edge('a', 'b')?.traffic_volume).toBe(1);
    });

    it('give way to a causal edge', () => {
      record({ agent_id: 'a', trace_id: 't1', at_ms: 0 });
      record({ agent_id: 'b', trace_id: 't2', at_ms: 9_000 });
      record({ agent_id: 'b', trace_id: 't3', at_ms: 100, parent_step_id: 't1' });
      expect(edge('a', 'b')).toMatchObject({ traffic_volume: 1, latency_ms: 100 });
    });
  });

  describe('changes', () => {
    it('are coalesced, and null when there are none', () => {
      expect(topology.drainChanges()).toBeNull();
      record({ trace_id: 't1' });
      record({ trace_id: 't2' });
      topology.setNodeState('s', 'a', 'blocked');
      expect(topology.drainChanges()).toMatchObject({
        nodes: [{ step_count: 2, state: 'blocked' }],
        edges: [],
      });
      expect(topology.drainChanges()).toBeNull();
    });

    it('are none when a state is set again or a sweep finds nothing to do', () => {
      record({});
      topology.setNodeState('s', 'a', 'blocked');
      topology.drainChanges();
      topology.setNodeState('s', 'a', 'blocked');
      sweepAfter(1_000);
      expect(topology.drainChanges()).toBeNull();
    });

    it('are copies', () => {
      record({ trace_id: 't1' });
      const first = topology.drainChanges();
      record({ trace_id: 't2' });
      expect(first?.nodes[0]?.step_count).toBe(1);
    });

    it('leave in pieces when a refused message shows on all sessions of an agent', () => {
      create({ deltaCountMax: 2 });
      for (const session_id of ['s1', 's2', 's3']) record({ session_id });
      while (topology.drainChanges() !== null);
      topology.recordViolation('a', clock.nowMs());
      const sent = [1, 2, 3].map(() => topology.drainChanges()?.nodes.map(({ node_id }) => node_id));
      expect(sent).toEqual([['s1/a', 's2/a'], ['s3/a'], undefined]);
    });

    it('say removed first and new afterwards for a node that came back in between', () => {
      record({ trace_id: 't1' });
      topology.drainChanges();
      sweepAfter(30 * 60_000);
      record({ trace_id: 't2' });
      expect(topology.drainChanges()).toEqual({ nodes: [], edges: [], removed: ['s/a'] });
      expect(topology.drainChanges()).toMatchObject({ nodes: [{ node_id: 's/a', step_count: 1 }] });
    });
  });
});
