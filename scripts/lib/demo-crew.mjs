/**
 * Plays the demo's scenarios against a gateway at human speed and obeys its control: a pause is waited out, guidance
 * goes into the scenario, a rewritten input is used, a termination ends the session and a new one starts later.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { roles } from './demo-scenarios.mjs';
import { ObservatoryAgent } from './observatory-agent.mjs';
import { seededRandom } from './seeded-random.mjs';

/** @typedef {import('./demo-scenarios.mjs').Role} Role */
/** @typedef {import('./demo-scenarios.mjs').ScenarioStep} ScenarioStep */
/** @typedef {{ url: string, key: string, rate: number, signal: AbortSignal, say: (text: string) => void, onStep: (severity: string) => void }} Stage */

const thinkSeconds = { min: 0.5, max: 3 };
const betweenSessionsSeconds = { min: 3, max: 8 };
const afterTerminationSeconds = 15;

/**
 * @param {number} seed
 * @returns {import('./demo-scenarios.mjs').Dice} the same demo for the same seed
 */
export function makeDice(seed) {
  const next = seededRandom(seed);
  return {
    number: (min, max) => Math.floor(min + next() * (max - min + 1)),
    pick: (from) => /** @type {any} */ (from[Math.floor(next() * from.length)]),
    chance: (probability) => next() < probability,
  };
}

/**
 * Starts as many agents as asked for, role by role in turn (the planner and its researcher are two).
 *
 * @param {number} agentCount
 * @param {Stage} stage
 * @returns {Promise<void>} resolves once `stage.signal` is aborted and all have stopped; rejects if the server stays away
 */
export async function runCrew(agentCount, stage) {
  const members = [];
  for (let agents = 0, index = 0; agents < agentCount; index++) {
    const role = roles[index % roles.length];
    if (!role) break;
    agents += role.agentCount;
    members.push(playForever(role, Math.floor(index / roles.length) + 1, stage));
  }
  await Promise.all(members);
}

/** @param {Role} role @param {number} copy 1 = the first of its kind @param {Stage} stage */
async function playForever(role, copy, stage) {
  const identity = { ...role.identity, agent_id: `${role.identity.agent_id}-${copy}` };
  const dice = makeDice(copy * 7_919 + role.kind.length);
  const rest = (/** @type {number} */ seconds) =>
    sleep((seconds * 1000) / stage.rate, undefined, { signal: stage.signal });
  try {
    await rest(dice.number(0, 20) / 10);
    for (let run = 1; !stage.signal.aborted; run++) {
      const player = new Player(role, identity, stage, dice);
      const end = await player.play(run);
      if (end === 'terminated')
        stage.say(`${identity.agent_id} was ended by an operator; it starts a new session later`);
      await rest(
        end === 'terminated'
          ? afterTerminationSeconds
          : dice.number(betweenSessionsSeconds.min, betweenSessionsSeconds.max),
      );
    }
  } catch (error) {
    if (!stage.signal.aborted) throw error;
  }
}

/** One session of one role. */
class Player {
  /** @type {string | null} */
  #guidance = null;
  /** @type {ScenarioStep | null} a held step as an operator rewrote it */
  #rewritten = null;
  #usd = 0;
  #severity = 'normal';

  /** @param {Role} role @param {import('./demo-scenarios.mjs').Identity} identity @param {Stage} stage @param {import('./demo-scenarios.mjs').Dice} dice */
  constructor(role, identity, stage, dice) {
    this.role = role;
    this.identity = identity;
    this.stage = stage;
    this.dice = dice;
    this.agent = new ObservatoryAgent({
      url: stage.url,
      key: stage.key,
      ...identity,
      session_id: `${identity.agent_id}-${randomUUID().slice(0, 8)}`,
      source_app: 'demo',
      cluster_id: role.kind,
      signal: stage.signal,
      attemptsMax: 12,
    });
    this.agent.onDirective((directive) => {
      if (directive.type === 'inject') {
        this.#guidance = directive.prompt ?? '';
        this.#say(`got guidance: "${directive.prompt}"`);
      }
      if (directive.type === 'rewrite') {
        this.#rewritten = {
          cognition: { intent: 'use_rewritten_input', strategy_used: 'operator_rewrite' },
          action: {
            status: 'success',
            tool_input: directive.new_content,
            tool_output_summary: 'done as rewritten',
          },
        };
        this.#say('uses the input that an operator rewrote');
      }
    });
  }

  /** @param {number} run 1, 2, 3 ... @returns {Promise<'ended' | 'terminated'>} */
  async play(run) {
    const scenario = this.role.play(this.dice, run, this.identity);
    let next = scenario.next(null);
    while (!next.done) {
      const answer = await this.#act(next.value);
      if (answer === 'terminated') return 'terminated';
      if (this.#rewritten) {
        const rewritten = this.#rewritten;
        this.#rewritten = null;
        if ((await this.#act(rewritten)) === 'terminated') return 'terminated';
      }
      const guidance = this.#guidance;
      this.#guidance = null;
      next = scenario.next(guidance);
    }
    return 'ended';
  }

  /** Thinks, posts, obeys. @param {ScenarioStep} scenarioStep @returns {Promise<'active' | 'terminated'>} */
  async #act({ thinkSeconds: given, usd, tokens, ...step }) {
    const { stage, dice, agent } = this;
    const seconds = given ?? dice.number(thinkSeconds.min * 10, thinkSeconds.max * 10) / 10;
    await sleep((seconds * 1000) / stage.rate, undefined, { signal: stage.signal });
    const tokensConsumed = tokens ?? dice.number(250, 1_800);
    this.#usd += usd ?? tokensConsumed * 0.000_004;
    const answer = await agent.step({
      ...step,
      cognition: { confidence_score: dice.number(55, 97) / 100, ...step.cognition },
      action: { duration_ms: dice.number(80, Math.round(seconds * 900)), ...step.action },
      state_delta: { tokens_consumed: tokensConsumed, cumulative_session_cost: Number(this.#usd.toFixed(4)) },
    });
    if (answer.status === 'rejected')
      throw new Error(`${this.identity.agent_id}: rejected, ${answer.detail}`);
    stage.onStep(answer.entropy.severity);
    this.#noteSeverity(answer.entropy.severity);
    if (agent.state === 'paused') {
      this.#say(
        step.control?.hitl_required ? 'asks for a person: resume it in the dashboard' : 'is paused and waits',
      );
      if ((await agent.waitWhilePaused()) === 'active') this.#say('goes on');
    }
    return agent.isTerminated ? 'terminated' : 'active';
  }

  /** @param {string} severity */
  #noteSeverity(severity) {
    if (severity === 'loop' && this.#severity !== 'loop') {
      this.#say('is going in circles: "Pause and Inspect" it in the dashboard, inject a hint, resume');
    }
    if (severity === 'normal' && this.#severity === 'loop') this.#say('left its loop');
    // Between the two it is still on its way out.
    if (severity !== 'warning') this.#severity = severity;
  }

  /** @param {string} text */
  #say(text) {
    this.stage.say(`${this.identity.agent_id} ${text}`);
  }
}
