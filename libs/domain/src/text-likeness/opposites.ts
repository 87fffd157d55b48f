/**
 * English words of which exchanging one for another turns a request round. Each axis has two or more values; a value's
 * words mean the same side of it. Own list: what agents and support chats ask for.
 */

/** Taken with their endings: enable, enables, enabled, enabling. */
export const VERB_AXES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  switch: { on: 'enable activate', off: 'disable deactivate' },
  exist: {
    there: 'add create insert install attach append register include',
    gone: 'remove delete uninstall detach erase purge wipe drop exclude unregister deregister discard cancel',
  },
  run: {
    go: 'start launch begin resume continue renew boot',
    stop: 'stop halt pause end terminate kill cancel abort quit suspend',
  },
  amount: {
    up: 'increase raise grow expand enlarge boost extend upgrade promote maximise maximize',
    down: 'decrease reduce shrink shorten downgrade demote minimise minimize',
  },
  open: { open: 'open unlock unblock unfreeze', shut: 'close lock block freeze shut' },
  consent: {
    yes: 'accept approve allow permit grant confirm agree authorise authorize',
    no: 'reject deny decline refuse forbid prohibit revoke block disagree',
  },
  sight: { show: 'show unhide reveal display', hide: 'hide' },
  cipher: { on: 'encrypt encode compress', off: 'decrypt decode decompress' },
  load: { up: 'upload', down: 'download' },
  port: { in: 'import', out: 'export' },
  pull: { push: 'push', pull: 'pull' },
  mail: { out: 'send', in: 'receive' },
  trade: { buy: 'buy purchase', sell: 'sell' },
  loan: { lend: 'lend', borrow: 'borrow' },
  money: { in: 'deposit', out: 'withdraw' },
  way: { here: 'arrive', away: 'depart' },
  result: { good: 'pass succeed win', bad: 'fail lose' },
  liking: { like: 'love', hate: 'hate dislike' },
  memory: { keep: 'remember', lose: 'forget' },
  sum: { add: 'add', subtract: 'subtract', multiply: 'multiply', divide: 'divide' },
  tie: { join: 'merge join combine', split: 'split separate' },
  door: { in: 'enter', out: 'exit leave' },
};

/** Taken as they are. */
export const WORD_AXES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  switch: { off: 'off' },
  sequence: {
    first: 'first',
    last: 'last final',
    next: 'next following upcoming',
    previous: 'previous prior preceding',
  },
  time: { before: 'before', after: 'after' },
  tense: { now: 'is are am does', past: 'was were did' },
  age: { new: 'new newer newest latest newly', old: 'old older oldest earliest' },
  side: { left: 'left', right: 'right' },
  vertical: { up: 'top above upper', down: 'bottom below lower beneath' },
  size: {
    small: 'small smaller smallest tiny little',
    medium: 'medium',
    large: 'large larger largest big bigger biggest huge',
  },
  height: { high: 'high higher highest', low: 'low lower lowest' },
  length: { long: 'long longer longest tall taller tallest', short: 'short shorter shortest' },
  share: { more: 'more', less: 'less fewer' },
  extreme: { most: 'most maximum maximal max', least: 'least minimum minimal min' },
  speed: { fast: 'fast faster fastest quick quicker quickly', slow: 'slow slower slowest slowly' },
  heat: { hot: 'hot hotter hottest warm warmer', cold: 'cold colder coldest cool cooler' },
  truth: { true: 'true', false: 'false' },
  price: { cheap: 'cheap cheaper cheapest', dear: 'expensive' },
  flow: { in: 'inbound incoming input inputs', out: 'outbound outgoing output outputs' },
  place: { in: 'internal inside indoor indoors', out: 'external outside outdoor outdoors' },
  stage: {
    production: 'production prod',
    staging: 'staging',
    development: 'development dev',
    sandbox: 'sandbox',
  },
  audience: { public: 'public', private: 'private' },
  order: { up: 'ascending asc', down: 'descending desc' },
  result: { good: 'success successful successfully', bad: 'failure failures unsuccessful' },
  gender: {
    he: 'man men boy boys male males he his him husband father son brother guy guys',
    she: 'woman women girl girls female females she her hers wife mother daughter sister lady ladies',
  },
  colour: {
    red: 'red',
    green: 'green',
    blue: 'blue',
    yellow: 'yellow',
    black: 'black',
    white: 'white',
    orange: 'orange',
    purple: 'purple',
    pink: 'pink',
    brown: 'brown',
    grey: 'grey gray',
  },
  light: { light: 'light bright', dark: 'dark' },
  fill: { full: 'full', empty: 'empty' },
  sameness: { same: 'same equal', different: 'different' },
  water: { wet: 'wet', dry: 'dry' },
  hour: { early: 'early earlier', late: 'late later' },
  compass: { north: 'north northern', south: 'south southern', east: 'east eastern', west: 'west western' },
  meal: { breakfast: 'breakfast', lunch: 'lunch', dinner: 'dinner supper' },
  season: { spring: 'spring', summer: 'summer', autumn: 'autumn', winter: 'winter' },
  card: { credit: 'credit', debit: 'debit' },
  session: { in: 'login logon signin', out: 'logout logoff signout' },
  ask: { when: 'when', where: 'where', who: 'who whom', why: 'why' },
  sum: { add: 'plus', subtract: 'minus' },
  format: {
    json: 'json',
    yaml: 'yaml yml',
    xml: 'xml',
    csv: 'csv',
    html: 'html',
    pdf: 'pdf',
    markdown: 'markdown',
    docx: 'docx',
  },
};

/** These count only against the strong words of their axis: looking is no deletion. */
export const WEAK_AXES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  exist: { seen: 'list show view read get fetch find check display print describe count inspect' },
};

/** Words that mean a direction only behind one of these verbs (turn on, log out, scale up). */
export const PARTICLES: ReadonlyMap<string, { axis: string; value: string; verbs: ReadonlySet<string> }> =
  new Map(
    Object.entries({
      on: { axis: 'switch', value: 'on', verbs: forms('turn switch power toggle put') },
      in: { axis: 'session', value: 'in', verbs: forms('log sign check opt zoom clock fade') },
      out: { axis: 'session', value: 'out', verbs: forms('log sign check opt zoom clock fade') },
      up: {
        axis: 'amount',
        value: 'up',
        verbs: forms('scale turn speed ramp count round vote go move scroll spin'),
      },
      down: {
        axis: 'amount',
        value: 'down',
        verbs: forms('scale turn slow ramp count round vote go move scroll spin'),
      },
    }),
  );

/** Axes where sharing one value is enough: "why ... when" and "why" ask alike. */
export const LOOSE_AXES: ReadonlySet<string> = new Set([
  'tense',
  'direction',
  'ask',
  'exist',
  'run',
  'age',
  'share',
  'format',
  'result',
]);

/** A word of one text that is one of these and a word of the other: installed, uninstalled. */
export const NEGATIVE_PREFIX = /^(?:un|dis|non|in|im|ir|il|de|mis)/;

/** Regular endings of a verb, and the verb; forms that do not exist do no harm. */
export function inflect(verb: string): string[] {
  const stem = verb.endsWith('e') ? verb.slice(0, -1) : verb;
  const doubled = /[^aeiou][aeiou][bdgklmnprt]$/.test(verb) ? verb + verb.slice(-1) : stem;
  const softened = /[^aeiou]y$/.test(verb) ? `${verb.slice(0, -1)}i` : stem;
  return [verb, `${verb}s`, `${softened}es`, `${softened}ed`, `${stem}ing`, `${doubled}ed`, `${doubled}ing`];
}

function forms(verbs: string): ReadonlySet<string> {
  return new Set(verbs.split(' ').flatMap(inflect));
}
