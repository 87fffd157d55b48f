/**
 * How well the semantic loop and the LLM cache tell the same question from one that only looks like it: recall and
 * false alarms on pairs of known truth and on recorded sessions, hit rate against wrong hits, with and without the
 * vetoes. No timings. Reads the shared data; draws bench/pictures/similarity-*.svg.
 *
 *     LOOP_EMBEDDING_MODEL_PATH=... node bench/run.mjs similarity     also all-MiniLM-L6-v2, where its weights are
 *     node bench/similarity.mjs --list                                also every swap that the default setting serves
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cosineOfSimilarity } from '#contracts';
import { readTraces } from './lib/detection-traces.mjs';
import { isQuick } from './lib/quick.mjs';
import { runAlone } from './lib/run-alone.mjs';
import { openEmbedders } from './lib/similarity-embedders.mjs';
import {
  askAgain,
  cacheGuards,
  guardTitles,
  isServed,
  judge,
  judgeSwaps,
  loopGuards,
  pointAt,
  ratesAt,
  serveSwaps,
} from './lib/similarity-measure.mjs';
import {
  agentPairs,
  bankingQuestions,
  clincQuestions,
  intentPairs,
  stsPairs,
} from './lib/similarity-pairs.mjs';
import { colours, drawChart } from './lib/similarity-picture.mjs';
import { allSwaps, swapKinds } from './lib/similarity-swaps.mjs';
import { groups, loopsOf, reached, sessionsOf } from './lib/similarity-traces.mjs';

/** @typedef {import('./lib/similarity-embedders.mjs').Measured} Measured */
/** @typedef {import('./lib/similarity-measure.mjs').Guard} Guard */
/** @typedef {import('./lib/similarity-measure.mjs').Judged} Judged */
/** @typedef {import('./lib/similarity-measure.mjs').JudgedSwap} JudgedSwap */
/** @typedef {import('./lib/figures.mjs').Figure} Figure */

const pictures = new URL('./pictures/', import.meta.url);
const wrongShareMax = 0.01;
const cacheCosines = [0.8, 0.85, 0.88, 0.9, 0.92, 0.94, 0.95, 0.97];
const loopCosines = [0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9];
const kinds = swapKinds.slice(1);
/** Whatever the embedder. */
const cacheGuard = 'answer';

const percent = (/** @type {number} */ share) => {
  if (!Number.isFinite(share)) return '-';
  const digits = share === 0 || share >= 0.0995 ? 0 : share >= 0.0005 ? 1 : 2;
  return `${(share * 100).toFixed(digits)} %`;
};
const thousands = (/** @type {number} */ count) => count.toLocaleString('en-US');
/** On an axis. */
const wholePercent = (/** @type {number} */ share) => `${Math.round(share * 100)} %`;
const of = (/** @type {number} */ part, /** @type {number} */ whole) =>
  `${part}/${whole} = ${percent(part / whole)}`;
const row = (/** @type {(string | number)[]} */ cells) => `| ${cells.join(' | ')} |`;

/** @param {string[]} head @param {(string | number)[][]} rows @returns {string} a Markdown table */
const table = (head, rows) => [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');

/** For a legend. @param {Guard} guard */
const shortTitle = (guard) => guardTitles[guard].replace('with vetoes and', 'vetoes +');

/** The settings a gateway comes up with for this embedder. @param {Measured} embedder */
function defaultsOf({ description }) {
  return {
    loopCosine: cosineOfSimilarity(description.loopWhenSimilarityAbove),
    cacheCosine: /** @type {number} */ (description.hitWhenCosineAtLeast),
    guard: /** @type {Guard} */ (description.needsStrictGate ? 'strict' : 'vetoes'),
  };
}

/** @param {Measured} embedder @returns {Promise<{ name: string, judged: Judged[] }[]>} */
async function judgePairs(embedder) {
  const [clinc, banking] = [clincQuestions(), bankingQuestions()];
  await embedder.learn([...clinc, ...banking].map(({ text }) => text));
  /** @param {import('./lib/similarity-pairs.mjs').Question[]} questions */
  const nearMisses = (questions) =>
    intentPairs(questions, (at, among) => {
      const text = questions[at]?.text ?? '';
      let [best, nearest] = [Number.NEGATIVE_INFINITY, among[0] ?? 0];
      for (const other of among) {
        const cosine = embedder.cosine(text, questions[other]?.text ?? '');
        if (cosine > best) [best, nearest] = [cosine, other];
      }
      return nearest;
    });
  const sets = [
    { name: 'agent pairs', pairs: agentPairs() },
    { name: 'STS-B en', pairs: stsPairs('en') },
    { name: 'STS-B zh', pairs: stsPairs('zh') },
    { name: 'CLINC150', pairs: nearMisses(clinc) },
    { name: 'BANKING77', pairs: nearMisses(banking) },
  ];
  await embedder.learn(sets.flatMap(({ pairs }) => pairs.flatMap(({ one, other }) => [one, other])));
  return sets.map(({ name, pairs }) => ({ name, judged: judge(embedder, pairs) }));
}

/** @param {Measured} embedder @param {Awaited<ReturnType<typeof judgePairs>>} sets */
function loopPart(embedder, sets) {
  const { loopCosine, guard: own } = defaultsOf(embedder);
  const judged = sets.map((set) => set.judged);
  const count = (/** @type {boolean} */ same) => judged.flat().filter((pair) => pair.same === same).length;
  /** @type {Figure[]} */
  const figures = loopGuards.map((guard) => {
    const point = pointAt(judged, guard, loopCosine);
    return {
      title: `${embedder.name}, loop at cosine ${loopCosine.toFixed(2)}, ${guardTitles[guard]}${guard === own ? ' (default)' : ''}: precision`,
      measured: percent(point.precision),
      aim: '-',
      ok: null,
      absolutes: `recall ${percent(point.recall)}, false alarms on near misses ${percent(point.falseAlarms)}`,
    };
  });
  const cell = (/** @type {Judged[]} */ set, /** @type {Guard} */ guard, /** @type {number} */ cosine) => {
    const { recall, falseAlarms } = ratesAt(set, guard, cosine);
    return `${percent(recall)} / ${percent(falseAlarms)}`;
  };
  const steps = Array.from({ length: 61 }, (_, at) => 0.4 + at / 100);
  const chart = drawChart({
    title: 'The same question in other words: precision and recall',
    subtitle: `${embedder.name} embedder; ${thousands(count(true))} pairs of one meaning, ${thousands(count(false))} near misses; circles: the loop's default, cosine ${loopCosine.toFixed(2)}`,
    x: { title: 'recall', min: 0, max: 1, step: 0.2, format: wholePercent },
    y: {
      title: 'precision (as many near misses as matches)',
      min: 0.5,
      max: 1,
      step: 0.1,
      format: wholePercent,
    },
    lines: loopGuards.map((guard) => {
      const points = steps.map((cosine) => pointAt(judged, guard, cosine)).filter(({ recall }) => recall > 0);
      const mark = pointAt(judged, guard, loopCosine);
      return {
        name: shortTitle(guard),
        colour: colours[guard],
        points: points.map(({ recall, precision }) => ({ x: recall, y: precision })),
        marks: [{ x: mark.recall, y: mark.precision, label: loopCosine.toFixed(2) }],
      };
    }),
  });
  const note = [
    `**${embedder.name}: pairs.** Share of pairs of one meaning found / of near misses taken for it, by cosine. ` +
      `${thousands(count(true))} and ${thousands(count(false))} pairs: agent pairs (30 and 34, by hand), STS-B (score 4.5 and more; 2 to 3.5), CLINC150 and BANKING77 (two questions of one intent; a question and the nearest one, by this embedder, of another intent: the hardest near misses there are).`,
    '',
    table(
      [
        'cosine above',
        ...sets.map(({ name }) => `${name}, ${guardTitles[own]}`),
        ...loopGuards.map((guard) => `all, ${guardTitles[guard]}: recall / false alarms (precision)`),
      ],
      loopCosines.map((cosine) => {
        return [
          cosine === Number(loopCosine.toFixed(2)) ? `**${cosine.toFixed(2)} loop**` : cosine.toFixed(2),
          ...sets.map((set) => cell(set.judged, own, cosine)),
          ...loopGuards.map((guard) => {
            const all = pointAt(judged, guard, cosine);
            return `${percent(all.recall)} / ${percent(all.falseAlarms)} (${percent(all.precision)})`;
          }),
        ];
      }),
    ),
    '',
    `Pairs that the texts alone refuse, whatever their vectors (same / near miss): ${loopGuards
      .slice(1)
      .map(
        (guard) =>
          `${guardTitles[guard]} ${sets
            .map(
              ({ name, judged: set }) =>
                `${name} ${cell(set, guard, -2).split(' / ').map(refused).join(' / ')}`,
            )
            .join(', ')}`,
      )
      .join('; ')}.`,
  ].join('\n');
  return { figures, note, chart };
}

/** What a veto leaves -> what it takes. @param {string} left */
const refused = (left) => `${(100 - Number.parseFloat(left)).toFixed(0)} %`;

/** @param {Measured} embedder */
function cachePart(embedder) {
  const { cacheCosine } = defaultsOf(embedder);
  const sets = [
    { name: 'CLINC150', questions: clincQuestions() },
    { name: 'BANKING77', questions: bankingQuestions() },
  ];
  const fine = Array.from({ length: 41 }, (_, at) => 0.6 + at / 100);
  const counted = sets.map(({ name, questions }) => ({
    name,
    table: askAgain(embedder, questions, cacheCosines),
    curve: askAgain(embedder, questions, fine),
  }));
  const chart = drawChart({
    title: 'A cache of real questions: hits and wrong hits',
    subtitle: `${embedder.name} embedder; half of CLINC150 and BANKING77 stored, the other half asked; circles: 0.92`,
    x: { title: 'questions answered from the cache', min: 0, max: 1, step: 0.2, format: wholePercent },
    y: {
      title: 'of these, with the answer to another intent',
      min: 0,
      max: 0.2,
      step: 0.05,
      format: percent,
    },
    lines: cacheGuards.map((guard) => {
      const points = fine.map((cosine, at) => {
        const sum = counted.reduce(
          (into, { curve }) => {
            const one = curve[guard][at] ?? { asked: 0, hits: 0, wrong: 0 };
            return {
              asked: into.asked + one.asked,
              hits: into.hits + one.hits,
              wrong: into.wrong + one.wrong,
            };
          },
          { asked: 0, hits: 0, wrong: 0 },
        );
        return { cosine, x: sum.hits / sum.asked, y: sum.hits === 0 ? 0 : sum.wrong / sum.hits };
      });
      return {
        name: shortTitle(guard),
        colour: colours[guard],
        points,
        marks: points
          .filter(({ cosine }) => Math.abs(cosine - cacheCosine) < 0.004)
          .map(({ x, y }) => ({ x, y, label: cacheCosine.toFixed(2) })),
      };
    }),
  });
  const note = [
    `**${embedder.name}: questions asked again.** Every second question of CLINC150 (development) and BANKING77 (test) is stored, the others are asked: share answered from the cache (of these, with another intent's). One intent is not yet one answer, so this flatters; ${guardTitles[cacheGuard]} is the default, at ${cacheCosine}.`,
    '',
    table(
      [
        'cosine at least',
        ...counted.flatMap(({ name }) => cacheGuards.map((guard) => `${name}, ${guardTitles[guard]}`)),
      ],
      cacheCosines.map((cosine, at) => [
        cosine === cacheCosine ? `**${cosine} cache**` : cosine,
        ...counted.flatMap(({ table: counts }) =>
          cacheGuards.map((guard) => {
            const { asked, hits, wrong } = counts[guard][at] ?? { asked: 0, hits: 0, wrong: 0 };
            return `${percent(hits / asked)} (${hits === 0 ? '-' : of(wrong, hits)})`;
          }),
        ),
      ]),
    ),
  ].join('\n');
  return { note, chart };
}

/** @param {Measured} embedder @param {boolean} isListing */
async function swapPart(embedder, isListing) {
  const { cacheCosine, loopCosine, guard: own } = defaultsOf(embedder);
  const made = allSwaps();
  await embedder.learn(
    Object.values(made).flatMap((swaps) => swaps.flatMap(({ one, other }) => [one, other])),
  );
  /** @type {Record<string, JudgedSwap[]>} */
  const sets = Object.fromEntries(
    Object.entries(made).map(([name, swaps]) => [name, judgeSwaps(embedder, swaps)]),
  );
  const all = Object.values(sets).flat();
  const wrongOf = (/** @type {ReturnType<typeof serveSwaps>} */ counts) =>
    kinds.reduce((sum, kind) => sum + counts[kind].served, 0);
  const shareOf = (/** @type {ReturnType<typeof serveSwaps>} */ counts) => {
    const wrong = wrongOf(counts);
    return of(wrong, wrong + counts.reworded.served);
  };
  const counts = serveSwaps(all, cacheGuard, cacheCosine);
  const wrong = wrongOf(counts);
  const hits = wrong + counts.reworded.served;
  if (isListing) listServed(all, cacheGuard, cacheCosine);
  const bare = serveSwaps(all, 'none', cacheCosine);
  /** @type {Figure[]} */
  const figures = [
    {
      title: `${embedder.name}, cache at cosine ${cacheCosine}, ${guardTitles[cacheGuard]} (default): wrong hits of all hits, swaps`,
      measured: percent(wrong / hits),
      aim: `below ${percent(wrongShareMax)}`,
      ok: wrong / hits < wrongShareMax,
      absolutes: `${wrong} of ${hits.toLocaleString('en-US')} hits; served of ${kinds.map((kind) => `${kind} swaps ${of(counts[kind].served, counts[kind].asked)}`).join(', ')}, of harmless rewordings ${of(counts.reworded.served, counts.reworded.asked)}`,
    },
    {
      title: `${embedder.name}, cache at cosine ${cacheCosine}, cosine alone: the same`,
      measured: percent(wrongOf(bare) / (wrongOf(bare) + bare.reworded.served)),
      aim: '-',
      ok: null,
      absolutes: `${kinds.map((kind) => `${kind} swaps ${of(bare[kind].served, bare[kind].asked)}`).join(', ')}, harmless rewordings ${of(bare.reworded.served, bare.reworded.asked)}`,
    },
  ];
  figures.push(
    ...loopGuards.slice(1).map((guard) => {
      const steps = serveSwaps(all, guard, loopCosine);
      return {
        title: `${embedder.name}, loop at cosine ${loopCosine.toFixed(2)}, ${guardTitles[guard]}${guard === own ? ' (default)' : ''}: templated steps (another number or name) taken for a loop`,
        measured: percent(
          (steps.number.served + steps.entity.served) / (steps.number.asked + steps.entity.asked),
        ),
        aim: '-',
        ok: null,
        absolutes: `${kinds.map((kind) => `${kind} swaps ${of(steps[kind].served, steps[kind].asked)}`).join(', ')}, harmless rewordings ${of(steps.reworded.served, steps.reworded.asked)}`,
      };
    }),
  );
  const note = [
    `**${embedder.name}: swaps.** ${Object.entries(sets)
      .map(([name, swaps]) => `${name} ${new Set(swaps.map(({ one }) => one)).size.toLocaleString('en-US')}`)
      .join(
        ', ',
      )} real sentences are stored; each is asked again harmlessly reworded (case, punctuation, politeness, contractions) and with another number, one "not" more or less, another name in the same place, another auxiliary (modal), another degree or "those" for "these", and a condition more at the end (addition), where its words permit. Wrong hits of all hits (share of swaps served: ${kinds.join(', ')}; of rewordings):`,
    '',
    table(
      ['cosine at least', ...cacheGuards.map((guard) => guardTitles[guard])],
      cacheCosines.map((cosine) => [
        cosine === cacheCosine ? `**${cosine} cache**` : cosine,
        ...cacheGuards.map((guard) => {
          const at = serveSwaps(all, guard, cosine);
          const rates = kinds.map((kind) => percent(at[kind].served / at[kind].asked)).join(', ');
          return `${shareOf(at)} (${rates}; ${percent(at.reworded.served / at.reworded.asked)})`;
        }),
      ]),
    ),
    '',
    table(
      [`at ${cacheCosine}, default, served`, ...kinds, 'reworded', 'wrong hits of all hits'],
      Object.entries(sets).map(([name, swaps]) => {
        const at = serveSwaps(swaps, cacheGuard, cacheCosine);
        return [
          name,
          ...kinds.map((kind) => of(at[kind].served, at[kind].asked)),
          of(at.reworded.served, at.reworded.asked),
          shareOf(at),
        ];
      }),
    ),
    '',
    `Vetoes alone, whatever the vectors (cosine above -1), let pass of the swaps: ${cacheGuards
      .slice(1)
      .map((guard) => {
        const at = serveSwaps(all, guard, -1);
        return `${guardTitles[guard]} ${kinds.map((kind) => `${kind} ${percent(at[kind].served / at[kind].asked)}`).join(', ')}, rewordings ${percent(at.reworded.served / at.reworded.asked)}`;
      })
      .join('; ')}.`,
  ].join('\n');
  const fine = Array.from({ length: 36 }, (_, at) => 0.65 + at / 100);
  const chart = drawChart({
    title: 'Swapped numbers, names, auxiliaries: hits and wrong hits',
    subtitle: `${embedder.name} embedder; real sentences asked again, reworded or with a swap; circles: the cache's ${cacheCosine}`,
    x: {
      title: 'harmless rewordings answered from the cache',
      min: 0.4,
      max: 1,
      step: 0.1,
      format: wholePercent,
    },
    y: { title: 'wrong hits of all hits', min: 0, max: 0.6, step: 0.1, format: wholePercent },
    lines: cacheGuards.map((guard) => {
      const pointOf = (/** @type {number} */ cosine) => {
        const at = serveSwaps(all, guard, cosine);
        const wrongHits = wrongOf(at);
        const x = at.reworded.served / at.reworded.asked;
        return { x, y: wrongHits / Math.max(1, wrongHits + at.reworded.served) };
      };
      return {
        name: shortTitle(guard),
        colour: colours[guard],
        points: fine.map(pointOf).filter(({ x }) => x >= 0.4),
        marks: [
          { ...pointOf(cacheCosine), label: percent(pointOf(cacheCosine).y), isLeft: guard === cacheGuard },
        ],
      };
    }),
  });
  return { figures, note, chart };
}

/** @param {JudgedSwap[]} swaps @param {Guard} guard @param {number} cosineMin */
function listServed(swaps, guard, cosineMin) {
  for (const swap of swaps)
    if (!swap.same && isServed(swap, guard, cosineMin))
      process.stderr.write(`served ${swap.kind}: ${swap.one} | ${swap.other}\n`);
}

/** @param {Measured} embedder */
async function tracePart(embedder) {
  const { loopCosine, guard: own } = defaultsOf(embedder);
  const traces = readTraces().filter((_, at) => !isQuick || at % 10 === 0);
  const notes = [];
  /** @type {Figure[]} */
  const figures = [];
  for (const wire of /** @type {const} */ (['tools', 'text'])) {
    const sessions = sessionsOf(traces, wire);
    await embedder.learn(sessions.flatMap(({ prompts }) => prompts));
    const variants = [
      { title: `cosine ${loopCosine.toFixed(2)} alone`, cosine: loopCosine, strict: null },
      { title: 'with vetoes', cosine: loopCosine, strict: false },
      { title: 'strict gate', cosine: loopCosine, strict: true },
      { title: 'the very same text only', cosine: 2, strict: null },
      { title: "the seed's 0.90 (similarity 0.95) alone", cosine: 0.9, strict: null },
    ];
    const found = variants.map(({ title, cosine, strict }) => ({
      title,
      loops: sessions.map((session) => loopsOf(embedder, session, cosine, strict)),
      isDefault: cosine === loopCosine && strict === (own === 'strict'),
    }));
    const rows = groups.map(({ group, title }) => [
      title,
      reached(sessions, [], group).asked,
      ...found.map(({ loops }) => {
        const { sessions: all, hinted, alerted, paused } = reached(sessions, loops, group);
        return `${of(hinted, all)}, ${alerted}, ${paused}`;
      }),
    ]);
    const byDefault = found.find(({ isDefault }) => isDefault);
    if (byDefault && wire === 'tools')
      for (const { group, title } of groups) {
        const { sessions: all, hinted, alerted, paused } = reached(sessions, byDefault.loops, group);
        figures.push({
          title: `${embedder.name}, recorded sessions, ${title}: hinted`,
          measured: of(hinted, all),
          aim: '-',
          ok: null,
          absolutes: `a second loop (alert) ${of(alerted, all)}, a third (pause, where the policy says so) ${of(paused, all)}`,
        });
      }
    const what =
      wire === 'tools'
        ? 'Tool results as tool results: only what users and other agents wrote is a prompt. An agent that stands still on one instruction brings no second prompt: that is for the kill switch.'
        : 'Tools asked for in text (ReAct): every result comes as a user message and counts as a prompt, so an equal result is an equal prompt.';
    notes.push(
      [
        `**${embedder.name}: recorded sessions.** ${what} Sessions with one loop or more (hint), with two (alert), with three (pause); "asked" have two prompts or more.`,
        '',
        table(['sessions', 'asked', ...variants.map(({ title }) => title)], rows),
      ].join('\n'),
    );
  }
  return { figures, notes };
}

/** @param {{ isListing?: boolean }} [options] @returns {Promise<import('./lib/figures.mjs').BenchResult>} */
export async function run({ isListing = false } = {}) {
  const { embedders, leftOut } = await openEmbedders();
  /** @type {Figure[]} */
  const figures = [];
  const notes = [
    'Cosine is the plain one; the semantic loop compares similarity = (1 + cosine) / 2, exclusive, so 0.65 is 0.825 there. The cache hits at its cosine and above. "Vetoes": numbers, dates, negation and opposites, quotations, code, names. "Strict gate": also one content word, another order of the same words, or other auxiliaries, prepositions or degrees between them. "Gate of the cache": also whatever one text says more, and whatever stands behind a colon.',
  ];
  mkdirSync(pictures, { recursive: true });
  for (const embedder of embedders) {
    const loop = loopPart(embedder, await judgePairs(embedder));
    const cache = cachePart(embedder);
    const swaps = await swapPart(embedder, isListing);
    const traces = await tracePart(embedder);
    figures.push(...swaps.figures, ...loop.figures, ...traces.figures);
    const names = ['pairs', 'cache', 'swaps'].map((what) => `similarity-${embedder.name}-${what}.svg`);
    if (!isQuick)
      for (const [at, chart] of [loop.chart, cache.chart, swaps.chart].entries())
        writeFileSync(new URL(names[at] ?? '', pictures), chart);
    notes.push(
      loop.note,
      `![Precision and recall of pairs, ${embedder.name}](pictures/${names[0]})`,
      cache.note,
      `![Hits and wrong hits of a cache, ${embedder.name}](pictures/${names[1]})`,
      swaps.note,
      `![Hits and wrong hits on swaps, ${embedder.name}](pictures/${names[2]})`,
      ...traces.notes,
    );
    await embedder.close();
  }
  notes.push(
    'What the figures say of the bundled embedder. Cache: the vetoes carry it for numbers, names and negations; its gate takes what they leave, auxiliaries, degrees and conditions, and names in lower case that no list knows. On questions asked again it costs about half of the hits; the wrong ones that stay are of intents that overlap (topping up by card or by transfer). Loop: on pairs the vetoes without the strict gate find more at a better precision; the gate stays because a templated step with another word in it would else be taken for a loop, and on the recorded sessions it costs no hint and one alert of ten, and takes both alerts on runs that succeeded.',
  );
  return { figures, notes: [...notes, ...leftOut] };
}

const runListed = () => run({ isListing: process.argv.includes('--list') });
if (await runAlone(import.meta.url, runListed)) process.exit(0);
