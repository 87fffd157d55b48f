import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { decisionLogSchema } from '#contracts';
import { makeDice } from './lib/demo-crew.mjs';
import { answerTo, changedFiles, faq } from './lib/demo-model.mjs';
import { roles } from './lib/demo-scenarios.mjs';
import { retryWaitMs } from './lib/observatory-agent.mjs';

type Role = (typeof roles)[number];

/** Steps of one session; `guideAt` is the step after which an operator's hint arrives. */
function play(role: Role, run: number, guideAt = Number.POSITIVE_INFINITY) {
  const scenario = role.play(makeDice(run), run, role.identity);
  const steps = [];
  let next = scenario.next(null);
  while (!next.done && steps.length < 1_000) {
    steps.push(next.value);
    next = scenario.next(steps.length === guideAt ? 'compare the rounding modes' : null);
  }
  return steps;
}

/** The lowest uniqueness ratio of any full window of five. */
function lowestScore(steps: ReturnType<typeof play>): number {
  const tuples = steps.map(({ cognition, action }) =>
    JSON.stringify([cognition.intent, action.tool_call, action.status]),
  );
  const windows = tuples.slice(4).map((_, at) => tuples.slice(at, at + 5));
  return Math.min(...windows.map((window) => new Set(window).size / 5));
}

describe('the demo', () => {
  it('has six agents', () => {
    expect(roles.reduce((sum, { agentCount }) => sum + agentCount, 0)).toBe(6);
  });

  it.each(roles.map((role) => [role.kind, role] as const))(
    '%s sends steps that fit the contract and ends',
    (_, role) => {
      for (let run = 1; run <= 20; run++) {
        const steps = play(role, run);
        for (const { thinkSeconds, usd, tokens, ...step } of steps) {
          const meta = { trace_id: 'x', timestamp: new Date(0).toISOString() };
          const log = { ...step, meta, identity: { ...role.identity, ...step.identity } };
          expect(decisionLogSchema.parse(log)).toEqual(log);
        }
        expect(steps.at(-1)?.control?.is_terminal).toBe(true);
      }
    },
  );

  it.each(roles.filter(({ kind }) => kind !== 'coder').map((role) => [role.kind, role] as const))(
    '%s never looks like going in circles',
    (_, role) => {
      for (let run = 1; run <= 50; run++) expect(lowestScore(play(role, run))).toBeGreaterThanOrEqual(0.5);
    },
  );

  it('has a coder in circles who leaves them at once when guided', () => {
    const [coder] = roles;
    if (coder?.kind !== 'coder') throw new Error('the coder comes first');
    expect(lowestScore(play(coder, 1))).toBe(0.2);
    const guided = play(coder, 1, 12);
    expect(guided[12]?.cognition).toMatchObject({
      intent: 'follow_operator_guidance',
      strategy_used: 'operator_guidance',
    });
    expect(guided.at(-1)?.action.tool_call).toBe('git.open_pull_request');
    expect(guided).toHaveLength(17);
  });

  it('asks a person before every other deployment', () => {
    const deployer = roles.find(({ kind }) => kind === 'deployer') as Role;
    const asks = (run: number) => play(deployer, run).some(({ control }) => control?.hitl_required);
    expect([1, 2, 3, 4].map(asks)).toEqual([true, false, true, false]);
  });
});

describe("the demo's model", () => {
  const role = { role: 'system', content: 'You are a careful reviewer.' };
  const ask = (content: string) => ({ role: 'user', content });
  const request = (...messages: object[]) => ({ model: 'm', messages: messages as { role: string }[] });

  it("answers what customers ask, politely or not, and is at its wit's end with all else", () => {
    for (const [question, content] of faq) {
      expect(answerTo(request(role, ask(question)))).toEqual({ content });
      expect(answerTo(request(role, ask(question.replace('?', ', please?'))))).toEqual({ content });
    }
    const stuck = answerTo(request(role, ask('What does it cost?')));
    expect(answerTo(request(role, ask('Anything else?')))).toEqual(stuck);
  });

  it('reads each changed file once, then says what it found', () => {
    const read = [];
    for (const messages: object[] = [role, ask('Review it.')]; ; messages.push({ role: 'tool' })) {
      const said = answerTo({ ...request(...messages), tools: [{}] });
      if ('content' in said) break;
      read.push(said.path);
    }
    expect(read).toEqual(changedFiles);
  });

  it("heeds an operator's guidance, and no hint", () => {
    const question = ask('What does it cost?');
    const told = (content: string) => answerTo(request({ role: 'system', content }, role, question));
    expect(told('Ask the shop by telephone.')).toEqual({ content: 'Understood: Ask the shop by telephone.' });
    expect(told('You seem to be repeating similar requests.')).toEqual(answerTo(request(role, question)));
  });
});

describe('waiting before another attempt', () => {
  it('obeys Retry-After in seconds and as a date, at most a minute', () => {
    expect(retryWaitMs('2', 1)).toBe(2_000);
    expect(retryWaitMs('Thu, 01 Jan 1970 00:00:05 GMT', 1, 1_000)).toBe(4_000);
    expect(retryWaitMs('86400', 1)).toBe(60_000);
    expect(retryWaitMs('-1', 1)).toBe(0);
  });

  it('backs off by itself otherwise, up to a bound', () => {
    for (const attempt of [1, 3, 30]) {
      const waitMs = retryWaitMs(attempt === 3 ? 'soon' : null, attempt);
      const middleMs = Math.min(250 * 2 ** (attempt - 1), 10_000);
      expect(waitMs).toBeGreaterThanOrEqual(middleMs * 0.75);
      expect(waitMs).toBeLessThanOrEqual(middleMs * 1.25);
    }
  });
});

describe('a demo that cannot begin', () => {
  it.each([
    [
      'an address without its scheme',
      ['--url', 'localhost:4000', '--key', 'some-key'],
      '4000',
      '--url takes a URL',
    ],
    ['a port that is none', [], 'http', 'PORT takes a number from 0 to 65535, not "http"'],
  ])('says what is wrong with %s', (_kind, options, port, words) => {
    const { stderr, status } = spawnSync(process.execPath, ['scripts/demo.mjs', ...options], {
      env: { ...process.env, PORT: port },
      encoding: 'utf8',
    });
    expect(stderr).toContain(words);
    expect(status).toBe(1);
  });
});
