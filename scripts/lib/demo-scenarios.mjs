/**
 * What the demo's agents do, as pure generators: each yields the next step and receives the guidance that an
 * operator injected since (null mostly). No network, no clock; chance comes in. Only `coder` goes in circles.
 */

/** @typedef {import('./observatory-agent.mjs').Step & { thinkSeconds?: number, usd?: number, tokens?: number }} ScenarioStep */
/** @typedef {Generator<ScenarioStep, void, string | null>} Scenario */
/** @typedef {{ number: (min: number, max: number) => number, pick: <T>(from: readonly T[]) => T, chance: (probability: number) => boolean }} Dice */
/** @typedef {{ agent_id: string, agent_type: string, model_name: string, capability_version: string }} Identity */
/** @typedef {{ kind: string, title: string, identity: Identity, play: (dice: Dice, run: number, identity: Identity) => Scenario }} Role */

/** Attempts after which the looping coder gives up by itself, so that an unattended demo goes on. */
const coderAttemptsMax = 150;

/**
 * @param {string} intent
 * @param {string | null} tool
 * @param {Record<string, unknown> | null} input
 * @param {string} output
 * @param {Partial<Omit<ScenarioStep, 'action' | 'cognition'>> & { status?: 'success' | 'failure', why?: string, how?: string }} [more]
 * @returns {ScenarioStep}
 */
function step(intent, tool, input, output, { status = 'success', why, how, ...more } = {}) {
  return {
    cognition: {
      intent,
      ...(why ? { reasoning_chain: [why] } : {}),
      ...(how ? { strategy_used: how } : {}),
    },
    action: {
      status,
      ...(tool ? { tool_call: tool } : {}),
      ...(input ? { tool_input: input } : {}),
      tool_output_summary: output,
    },
    ...more,
  };
}

/** The step that shows an operator that the guidance arrived. @param {string} guidance */
const heed = (guidance) =>
  step('follow_operator_guidance', null, null, 'plan changed', {
    why: `The operator says: ${guidance}`,
    how: 'operator_guidance',
  });

/** @type {Role['play']} */
function* coder(dice, run) {
  const file = dice.pick(['cart/totals.ts', 'billing/invoice.ts', 'search/ranking.ts']);
  const spec = file.replace('.ts', '.spec.ts');
  yield step('understand_issue', 'issues.get', { id: 4_100 + run }, `"${spec} fails since the last release"`);
  yield step('locate_code', 'code.search', { query: file }, `3 hits, the first in src/${file}`);
  yield step('read_source', 'file.read', { path: `src/${file}` }, '184 lines; rounding is done twice', {
    why: 'The total is rounded per line and again at the end.',
  });
  yield step('write_patch', 'file.edit', { path: `src/${file}`, lines: '88-96' }, '1 hunk applied');

  /** @type {string | null} */
  let guidance = null;
  for (let attempt = 1; !guidance && attempt <= coderAttemptsMax; attempt++) {
    guidance = yield step(
      'fix_failing_test',
      'shell.run_tests',
      { command: `npm test -- ${spec}` },
      `1 failed: ${spec} > rounds half up: expected 10.13, got 10.12 (attempt ${attempt})`,
      {
        status: 'failure',
        why: 'Running the test once more should show whether the patch works.',
        thinkSeconds: 1,
      },
    );
  }
  if (!guidance) {
    yield step('give_up', 'issues.comment', { id: 4_100 + run }, 'out of budget, handed to a person', {
      status: 'failure',
      control: { is_terminal: true },
    });
    return;
  }
  yield heed(guidance);
  yield step(
    'read_test',
    'file.read',
    { path: `src/${spec}` },
    'the test rounds half to even, the code half up',
  );
  yield step('write_patch', 'file.edit', { path: `src/${file}`, lines: '91' }, '1 hunk applied');
  yield step('verify_patch', 'shell.run_tests', { command: `npm test -- ${spec}` }, '12 passed');
  yield step(
    'open_pull_request',
    'git.open_pull_request',
    { branch: `fix/${4_100 + run}` },
    'pull request 977 opened',
    {
      control: { is_terminal: true },
    },
  );
}

/** @type {Role['play']} */
function* plannerWithResearcher(dice, run, identity) {
  const researcher = {
    agent_id: identity.agent_id.replace('planner', 'researcher'),
    agent_type: 'researcher',
    model_name: 'claude-haiku',
  };
  const topic = dice.pick([
    'heat pumps in old buildings',
    'sodium-ion batteries',
    'cold-chain sensors',
    'urban freight rules',
  ]);
  yield step('plan_report', 'planner.outline', { topic }, '4 sections, 3 open questions', {
    why: `The reader wants to decide on ${topic}.`,
  });
  for (const question of ['market size', 'regulation', 'cost per unit']) {
    /** @type {string | null} */
    let guidance = yield step(
      `delegate: ${question}`,
      'agents.delegate',
      { to: researcher.agent_id, question },
      'accepted',
    );
    guidance =
      (yield step(
        'search_sources',
        'web.search',
        { query: `${topic} ${question}` },
        `${dice.number(6, 20)} results`,
        { identity: researcher },
      )) ?? guidance;
    guidance =
      (yield step(
        'read_source',
        'web.fetch',
        { url: `https://example.org/${encodeURIComponent(question)}` },
        `${dice.number(900, 4_000)} words`,
        { identity: researcher },
      )) ?? guidance;
    if (dice.chance(0.2)) {
      guidance =
        (yield step(
          'read_second_source',
          'web.fetch',
          { url: 'https://example.net/report.pdf' },
          'HTTP 403',
          { identity: researcher, status: 'failure' },
        )) ?? guidance;
    }
    guidance =
      (yield step(`report_findings: ${question}`, 'notes.write', { question }, '5 findings, 3 with sources', {
        identity: researcher,
      })) ?? guidance;
    guidance =
      (yield step(
        `review: ${question}`,
        'planner.grade',
        { question, run },
        dice.pick(['good', 'good', 'thin, but usable']),
      )) ?? guidance;
    if (guidance) yield heed(guidance);
  }
  yield step('write_report', 'docs.create', { title: topic }, '6 pages', {
    control: { is_terminal: true },
    tokens: 5_200,
  });
}

/** @type {Role['play']} */
function* supportBot(dice) {
  const order = `A-${dice.number(10_000, 99_999)}`;
  const wish = dice.pick(['wants a refund', 'asks where the parcel is', 'got the wrong size']);
  yield step('greet_customer', 'chat.send', { text: 'Hello, how can I help?' }, `customer ${wish}`);
  yield step('find_order', 'crm.find_order', { order }, 'found: 2 items, paid, shipped');
  let guidance = yield step(
    'check_policy',
    'kb.search',
    { query: `${wish} policy` },
    'policy 4.2: within 30 days',
  );
  if (guidance) yield heed(guidance);
  if (dice.chance(0.3)) {
    yield step('track_parcel', 'carrier.track', { order }, 'carrier API: timeout', { status: 'failure' });
    yield step('retry_tracking', 'carrier.track', { order }, 'in delivery');
  }
  guidance = yield step(
    'offer_solution',
    'chat.send',
    { text: 'Here is what I can do ...' },
    dice.pick(['customer agrees', 'customer asks for more']),
  );
  if (guidance) yield heed(guidance);
  yield step('update_ticket', 'crm.update_ticket', { order, state: 'solved' }, 'saved');
  yield step('say_goodbye', 'chat.send', { text: 'Anything else?' }, 'conversation closed', {
    control: { is_terminal: true },
  });
}

/** @type {Role['play']} */
function* dataAnalyst(dice) {
  const metric = dice.pick(['weekly churn', 'basket size', 'checkout time']);
  yield step('understand_question', 'catalog.search', { query: metric }, '2 tables: events, orders');
  yield step('inspect_table', 'sql.describe', { table: 'events' }, '34 columns, 118 M rows');
  let guidance = yield step(
    'draft_query',
    'sql.run',
    { sql: `select count(*) from events where metric = '${metric}'` },
    'error: column "metric" does not exist',
    { status: 'failure' },
  );
  if (guidance) yield heed(guidance);
  yield step(
    'fix_query',
    'sql.run',
    { sql: 'select date_trunc(week, at), count(*) from events group by 1' },
    `${dice.number(40, 60)} rows`,
  );
  guidance = yield step('check_outliers', 'python.run', { code: 'df.describe()' }, '1 outlier in week 9', {
    why: 'Week 9 had an outage: it must not carry the trend.',
  });
  if (guidance) yield heed(guidance);
  yield step('plot_result', 'charts.line', { metric }, 'chart 1 of 1');
  yield step('summarise', 'docs.create', { title: `${metric}, last 12 months` }, 'up 4 % year on year', {
    control: { is_terminal: true },
    tokens: 2_400,
  });
}

/** @type {Role['play']} */
function* deployAgent(dice, run) {
  const version = `2.${run}.${dice.number(0, 9)}`;
  yield step('read_release', 'git.changelog', { version }, `${dice.number(3, 20)} commits`);
  yield step('run_checks', 'ci.run', { suite: 'smoke' }, 'all 212 passed', { usd: 0.08 });
  let guidance = yield step('deploy_staging', 'deploy.apply', { version, environment: 'staging' }, 'healthy');
  if (guidance) yield heed(guidance);
  yield step('watch_staging', 'metrics.query', { query: 'error_rate', minutes: 5 }, '0.02 %');
  // Every other release asks: the gateway then pauses the session until somebody resumes it.
  guidance = yield step(
    'request_production',
    'deploy.plan',
    { version, environment: 'production' },
    '3 services, 0 migrations',
    {
      why: 'Production is a step that a person should see first.',
      control: { hitl_required: run % 2 === 1 },
    },
  );
  if (guidance) yield heed(guidance);
  yield step('deploy_production', 'deploy.apply', { version, environment: 'production' }, 'healthy', {
    usd: 0.02,
  });
  yield step('watch_production', 'metrics.query', { query: 'error_rate', minutes: 10 }, '0.03 %');
  yield step('announce_release', 'chat.send', { channel: '#releases', version }, 'sent', {
    control: { is_terminal: true },
  });
}

/** @param {string} agent_id @param {string} agent_type @param {string} model_name @returns {Identity} */
const identity = (agent_id, agent_type, model_name) => ({
  agent_id,
  agent_type,
  model_name,
  capability_version: '1.4.0',
});

/** In the order in which `--agents` takes them; the planner brings a researcher, so it counts as two agents. */
/** @type {(Role & { agentCount: number })[]} */
export const roles = [
  {
    kind: 'coder',
    title: 'goes in circles until it is guided',
    agentCount: 1,
    identity: identity('coder', 'coder', 'claude-sonnet'),
    play: coder,
  },
  {
    kind: 'planner',
    title: 'delegates to a researcher',
    agentCount: 2,
    identity: identity('planner', 'planner', 'claude-opus'),
    play: plannerWithResearcher,
  },
  {
    kind: 'support',
    title: 'answers customers',
    agentCount: 1,
    identity: identity('support', 'support_bot', 'gpt-4o-mini'),
    play: supportBot,
  },
  {
    kind: 'analyst',
    title: 'answers questions from data',
    agentCount: 1,
    identity: identity('analyst', 'data_analyst', 'gpt-4o'),
    play: dataAnalyst,
  },
  {
    kind: 'deployer',
    title: 'asks a person before production',
    agentCount: 1,
    identity: identity('deployer', 'deploy_agent', 'gemini-pro'),
    play: deployAgent,
  },
];
