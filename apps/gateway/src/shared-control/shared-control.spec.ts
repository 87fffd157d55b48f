import { beforeEach, describe, expect, test } from 'vitest';
import { type ControlAct, type ControlWord, ObservatoryError } from '#contracts';
import { deferred, MINUTE_MS } from '#kernel';
import { countingIds, FakeTime, turn } from '#testing';
import { FakeControlLog, limitWord, OPERATOR } from './control-log.fixture.js';
import { SharedControl, WORD_WAIT_MS } from './shared-control.js';

let log: FakeControlLog;
let clock: FakeTime;
let obeyed: [by: string, act: ControlAct][];
let told: string[];
/** What the next word that is to be obeyed is refused with. */
let refusal: Error | null;
let settings: Map<string, unknown>;
/** What the disk is busy with, where it hangs: words that are no stops wait for it, and so does where the log was read up to. */
let hanging: Promise<void> | null;
/** Of a stop that is in force: the disk has it. */
let isStored: boolean;
beforeEach(() => {
  isStored = true;
  log = new FakeControlLog();
  clock = new FakeTime(0);
  hanging = null;
  obeyed = [];
  told = [];
  refusal = null;
  settings = new Map();
});

const gateway = (gatewayId: string) => {
  const ids = countingIds();
  return new SharedControl({
    log,
    gatewayId,
    store: {
      settings: async () => settings,
      saveSettings: async (values) => {
        await hanging;
        for (const [name, value] of values) settings.set(name, value);
      },
    },
    isStored: () => isStored,
    obey: async ({ by, left }) => {
      const isStop = (act: ControlAct | null) => act?.kind === 'policy' && act.patch.active === false;
      if (!isStop(left())) {
        await hanging;
        if (refusal !== null) throw refusal;
      }
      const act = left();
      if (act !== null) obeyed.push([`${by.operator_id} at ${by.gateway_id}`, act]);
    },
    events: {
      told: () => {},
      obeyed: () => {},
      notObeyed: (_word: unknown, error: Error) => void told.push(`not obeyed: ${error.message}`),
      unreadable: () => void told.push('unreadable'),
      missed: () => void told.push('missed'),
      lost: (count: number) => void told.push(`lost ${count}`),
      unreachable: () => void told.push('unreachable'),
    } as never,
    ids,
    clock,
    timer: clock,
  });
};
const say = (calls: number, agent?: string) =>
  log.append(JSON.stringify({ from: 'there', id: `there-${calls}`, ...limitWord(calls, agent) }));
const activeWord = (agent_id: string, active: boolean): ControlWord => ({
  ...OPERATOR,
  act: { kind: 'policy', agent_id, patch: active ? { active } : { active, reason: 'enough' } },
});
const sayActive = (id: string, agent: string, active: boolean) =>
  log.append(JSON.stringify({ from: 'there', id, ...activeWord(agent, active) }));
const stopped = () =>
  obeyed.flatMap(([, act]) => (act.kind === 'policy' && act.patch.active === false ? [act.agent_id] : []));
const limits = () =>
  obeyed.map(([, act]) => (act.kind === 'policy' ? act.patch.session_calls_max : act.kind));

test('obeys what others were told, in order, and nothing of its own', async () => {
  const here = gateway('here');
  await say(1);
  await say(2);
  here.tell(limitWord(3, 'another'));
  await here.look();
  await here.look();
  expect(limits()).toEqual([1, 2]);
  expect(obeyed[0]?.[0]).toBe('ann at there');
  expect(here.waitingCount).toBe(0);
});

test('goes on after a restart where it left off', async () => {
  await say(1);
  const here = gateway('here');
  await here.look();
  await say(2);
  const again = gateway('here');
  await again.start();
  await again.stop();
  expect(limits()).toEqual([1, 2]);
});

test('hears once more, after a death, of a stop that the disk had not when it died', async () => {
  const here = gateway('here');
  await sayActive('stop', 'bot', false);
  isStored = false;
  await here.look();
  await turn();
  obeyed = [];
  await gateway('here').start();
  expect(stopped()).toEqual(['bot']);
  isStored = true;
  await here.look();
  await turn();
  obeyed = [];
  await gateway('here').start();
  expect(stopped()).toEqual([]);
});

test('hears, after a death, also what was said here, in its place among the words of others; guidance is not said twice', async () => {
  const here = gateway('here');
  isStored = false;
  await sayActive('let in', 'bot', true);
  await here.look();
  here.tell(activeWord('bot', false));
  const inject = { command: 'inject', prompt: 'stay' } as const;
  here.tell({ ...OPERATOR, act: { kind: 'command', session_id: 's', directive_id: 'd', command: inject } });
  await here.lookAnew();
  obeyed = [];
  const again = gateway('here');
  await again.start();
  expect(obeyed.map(([by, act]) => [by, act.kind === 'policy' && act.patch.active])).toEqual([
    ['ann at there', true],
    ['ann at here', false],
  ]);
  again.tell(activeWord('bot', true));
  await again.lookAnew();
  await again.look();
  expect(obeyed).toHaveLength(2);
});

test('leaves alone what it decides itself, in words that stand behind those of others', async () => {
  const here = gateway('here');
  log.isAway = true;
  here.tell(limitWord(5));
  await here.look();
  log.isAway = false;
  await say(1);
  await say(2, 'another');
  await here.look();
  expect(limits()).toEqual([2]);
  await say(6);
  await here.look();
  expect(limits()).toEqual([2, 6]);
});

test('keeps its words while Redis is away, the newest thousand of them, and says what is lost', async () => {
  const here = gateway('here');
  log.isAway = true;
  for (let calls = 1; calls <= 1_002; calls += 1) here.tell(limitWord(calls));
  await here.look();
  expect(told.filter((line) => line !== 'unreachable')).toEqual(['lost 1', 'lost 1']);
  log.isAway = false;
  await here.look();
  await gateway('there').look();
  expect(limits()).toHaveLength(1_000);
  expect(limits().at(-1)).toBe(1_002);
  log.isAway = true;
  here.tell(limitWord(1));
  await here.stop();
  expect(told.at(-1)).toBe('lost 1');
});

test('says again what Redis took and forgot', async () => {
  const here = gateway('here');
  const { readAfter } = log;
  log.readAfter = async () => {
    log.entries = [];
    return { entries: [], isBroken: false };
  };
  here.tell(limitWord(1));
  await here.look();
  log.readAfter = readAfter;
  await here.look();
  await gateway('there').look();
  expect(limits()).toEqual([1]);
  expect(here.waitingCount).toBe(0);
});

test('passes over what is refused, and waits for a store that has no room, for a minute', async () => {
  const here = gateway('here');
  await say(1);
  await say(2);
  refusal = new ObservatoryError('session_terminated');
  await here.look();
  expect(told).toEqual([`not obeyed: ${refusal.message}`, `not obeyed: ${refusal.message}`]);
  await say(3);
  await say(4);
  for (const full of [new ObservatoryError('store_full'), new Error('disk')]) {
    refusal = full;
    await here.look();
    clock.advance(MINUTE_MS / 2 - 1);
  }
  refusal = null;
  await here.look();
  expect(limits()).toEqual([3, 4]);
  await say(5);
  await say(6);
  refusal = new Error('disk');
  await here.look();
  clock.advance(MINUTE_MS);
  await here.look();
  expect(told.slice(2)).toEqual(['not obeyed: disk']);
  refusal = null;
  await here.look();
  expect(limits()).toEqual([3, 4, 6]);
});

test('passes over what nobody understands', async () => {
  for (const text of ['{', 'null', '{"from":"x"}']) await log.append(text);
  await say(1);
  await gateway('here').look();
  expect(told).toEqual(['unreadable', 'unreadable', 'unreadable']);
  expect(limits()).toEqual([1]);
});

test('does not say twice what Redis took without saying so in time: it would undo what stands between', async () => {
  const here = gateway('here');
  const { append } = log;
  log.append = async (text) => {
    await append.call(log, text);
    log.append = append;
    throw new Error('timeout');
  };
  here.tell(limitWord(1));
  await here.look();
  await say(2);
  await here.look();
  await gateway('third').look();
  expect(limits()).toEqual([2, 1, 2]);
  expect(here.waitingCount).toBe(0);
});

test('nor while a word that stands before it must be obeyed first', async () => {
  const here = gateway('here');
  const { append } = log;
  await say(1, 'another');
  refusal = new ObservatoryError('store_busy');
  log.append = async (text) => {
    await append.call(log, text);
    log.append = append;
    throw new Error('timeout');
  };
  here.tell(limitWord(2));
  await here.look();
  await say(3);
  here.tell(limitWord(4, 'a third'));
  await here.look();
  refusal = null;
  await here.look();
  obeyed = [];
  await gateway('third').look();
  expect(limits()).toEqual([1, 2, 3, 4]);
  expect(here.waitingCount).toBe(0);
});

test('gives every word its minute, also after one that is obeyed no longer', async () => {
  const here = gateway('here');
  await say(1);
  refusal = new ObservatoryError('store_busy');
  await here.look();
  log.isAway = true;
  here.tell(limitWord(2));
  await here.look();
  log.isAway = false;
  await here.look();
  clock.advance(MINUTE_MS);
  await say(3);
  await here.look();
  refusal = null;
  await here.look();
  expect(limits()).toEqual([3]);
});

test('says once that Redis has forgotten words that it never read', async () => {
  const here = gateway('here');
  await say(1);
  await here.look();
  await say(2);
  log.entries = [];
  await here.look();
  await say(3);
  await here.look();
  await here.look();
  expect(limits()).toEqual([1, 3]);
  expect(told).toEqual(['missed']);
});

const lookOnTime = async (here: SharedControl) => {
  const looked = here.look();
  await turn();
  await clock.pass(WORD_WAIT_MS);
  await looked;
};

describe.each(['hangs', 'refuses'])('where the disk %s', (what) => {
  let release: () => Promise<void>;
  beforeEach(() => {
    const { promise, resolve } = deferred();
    if (what === 'hangs') hanging = promise;
    else refusal = new ObservatoryError('store_full');
    release = () => {
      hanging = refusal = null;
      resolve();
      return turn();
    };
  });

  test('a stop does not wait behind other words, and those are obeyed in order once the disk is back', async () => {
    const here = gateway('here');
    await say(1);
    await sayActive('stop-1', 'bot', false);
    await say(2);
    await lookOnTime(here);
    expect(stopped()).toEqual(['bot']);
    await sayActive('stop-2', 'another', false);
    await lookOnTime(here);
    await lookOnTime(here);
    expect(stopped()).toEqual(['bot', 'another']);
    obeyed = [];
    await release();
    await lookOnTime(here);
    expect(limits().filter((calls) => calls !== undefined)).toEqual([1, 2]);
    // In its place, too: something before it may have let the agent in.
    expect(stopped()).toEqual(['bot', 'another']);
    expect(told).toEqual([]);
  });

  test('what stands before a stop, and has waited, lets nobody in that it has stopped', async () => {
    const here = gateway('here');
    await sayActive('let in', 'bot', true);
    await sayActive('stop', 'bot', false);
    await sayActive('let in another', 'another', true);
    await lookOnTime(here);
    expect(stopped()).toEqual(['bot']);
    obeyed = [];
    await release();
    await lookOnTime(here);
    expect(obeyed.map(([, act]) => act.kind === 'policy' && [act.agent_id, act.patch.active])).toEqual([
      ['bot', false],
      ['another', true],
    ]);
  });

  test('nor does what stands between the two, until the stop has come in its place', async () => {
    const here = gateway('here');
    await say(1, 'another');
    await sayActive('let in', 'bot', true);
    await sayActive('stop', 'bot', false);
    await sayActive('let in once more', 'bot', true);
    await lookOnTime(here);
    expect(stopped()).toEqual(['bot']);
    obeyed = [];
    await release();
    await lookOnTime(here);
    expect(
      obeyed.map(([, act]) => act.kind === 'policy' && (act.patch.active ?? act.patch.session_calls_max)),
    ).toEqual([1, false, true]);
    // What is said from now on is obeyed as it comes.
    await sayActive('stop again', 'bot', false);
    await sayActive('let in again', 'bot', true);
    await lookOnTime(here);
    expect(stopped()).toEqual(['bot', 'bot']);
    expect(obeyed.at(-1)?.[1]).toMatchObject({ patch: { active: true } });
    // Nor is an old stop obeyed ahead of a word that waits later.
    refusal = new ObservatoryError('store_full');
    await say(2, 'another');
    await sayActive('stop another', 'another', false);
    await lookOnTime(here);
    expect(stopped()).toEqual(['bot', 'bot', 'another']);
  });

  test('nor for ever, where Redis has lost the stop meanwhile', async () => {
    const here = gateway('here');
    await sayActive('before', 'another', false);
    await here.look();
    await say(1, 'another');
    await sayActive('stop', 'bot', false);
    await lookOnTime(here);
    expect(stopped()).toEqual(['another', 'bot']);
    log.entries = [];
    await sayActive('let in', 'bot', true);
    await release();
    await lookOnTime(here);
    expect(obeyed.at(-1)?.[1]).toMatchObject({ agent_id: 'bot', patch: { active: true } });
  });

  test('of what is told with a stop only that is obeyed ahead', async () => {
    const here = gateway('here');
    await say(1, 'another');
    const act = { kind: 'policy', agent_id: 'bot', patch: { active: false, session_calls_max: 2 } };
    await log.append(JSON.stringify({ from: 'there', id: 'stop', ...OPERATOR, act }));
    await lookOnTime(here);
    expect(obeyed.map(([, act]) => act)).toEqual([
      { kind: 'policy', agent_id: 'bot', patch: { active: false } },
    ]);
  });

  test('one that was given here before a death does not wait, either', async () => {
    await say(1, 'another');
    await log.append(JSON.stringify({ from: 'here', id: 'before', ...activeWord('bot', false) }));
    await lookOnTime(gateway('here'));
    expect(stopped()).toEqual(['bot']);
  });

  test('the others hear of a stop that is given here', async () => {
    const here = gateway('here');
    await say(1, 'another');
    await lookOnTime(here);
    here.tell(activeWord('bot', false));
    await lookOnTime(here);
    expect(log.entries.map(({ text }) => JSON.parse(text).from)).toEqual(['there', 'here']);
    await release();
    await lookOnTime(here);
    expect(here.waitingCount).toBe(0);
  });

  test('one that was let in here after its stop is not stopped, and one before it is', async () => {
    const here = gateway('here');
    await say(1, 'another');
    await sayActive('before', 'let in', false);
    here.tell(activeWord('let in', true));
    here.tell(activeWord('stopped', true));
    await lookOnTime(here);
    await sayActive('after', 'stopped', false);
    await lookOnTime(here);
    expect(stopped()).toEqual(['stopped']);
  });

  test('a stop that is far behind is found', async () => {
    const here = gateway('here');
    for (let calls = 1; calls <= 250; calls += 1) await say(calls);
    await sayActive('stop', 'bot', false);
    await lookOnTime(here);
    expect(stopped()).toEqual(['bot']);
  });
});
