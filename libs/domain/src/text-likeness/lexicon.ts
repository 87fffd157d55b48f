/** One look-up a word: everything that English words mean to the vetoes. Built once, when the module loads. */
import { inflect, VERB_AXES, WEAK_AXES, WORD_AXES } from './opposites.js';
import { NAMES } from './place-names.js';
import type { Roles } from './text-facts.js';

/**
 * What a word may be without saying anything: "please" at an edge, "I want to", "there is", "so, ...", `d` of "I'd"; or nothing,
 * though it makes no other template of a text: "too", "being".
 */
export type IdleUse =
  | 'thanks'
  | 'greeting'
  | 'wish'
  | 'request'
  | 'there'
  | 'here'
  | 'so'
  | 'just'
  | 'clipped'
  | 'joined'
  | 'nothing';

export interface WordEntry {
  /** Articles, auxiliaries, pronouns, politeness: no content. */
  isStop?: true;
  /** It is none where it stands as this, and content elsewhere. */
  idleAs?: IdleUse;
  isNegator?: true;
  /** One name for all cases of a pronoun. */
  person?: string;
  isName?: true;
  isDirection?: true;
  /** What a word without content says about those around it. */
  role?: { kind: keyof Roles; value: string };
  /** A count: twelve. */
  number?: number;
  /** What it multiplies by: hundred, million. */
  scale?: number;
  /** A place in a row: third. */
  ordinal?: number;
  /** Canonical unit. */
  unit?: string;
  /** Canonical date word; a month as `m01`. */
  date?: string;
  /** The date word is another word too, and counts only with a capital or beside a number: may, sat. */
  isDoubtfulDate?: true;
  signs?: { axis: string; value: string; isWeak: boolean }[];
}

const STOP =
  'a an the is are was were be been am do does did have has had will would shall should can could might must i me my mine we us our ours you your yours u ur it its they them their theirs this that these those of in on at for by to as and also actually im ive';
const IDLE_USES: Readonly<Record<IdleUse, string>> = {
  thanks: 'please kindly thanks thank thx pls plz ok okay',
  greeting: 'hey hi hello dear well',
  wish: 'want wants wanted need needs like wonder wondering wanna gonna',
  request: 'tell let lets',
  there: 'there',
  here: 'here',
  so: 'so',
  just: 'just',
  clipped: 's t re ll ve d m',
  nothing: 'too very really being having doing done',
  joined: 'id ill',
};
const NEGATORS =
  'not no never none nothing nobody nowhere neither nor without cannot cant dont doesnt didnt wont isnt arent wasnt werent havent hasnt hadnt shouldnt wouldnt couldnt mustnt unable hardly barely non ain aint';
/** German, Dutch, French, Spanish, Italian, Portuguese, Scandinavian, Slavic, Hungarian, Romanian, Greek, Turkish. */
const NEGATORS_ELSEWHERE =
  'nicht kein keine keinen keinem keiner keines nie niemals nichts niemand weder ohne niet geen nooit niets niemand zonder ' +
  'ne pas jamais rien aucun aucune nunca jamás jamas nada nadie ningún ningun ninguno ninguna tampoco sin ' +
  'mai nessun nessuno nessuna niente nulla senza não nao ninguém ninguem nenhum nenhuma nem sem ' +
  'inte ikke ej aldrig aldri ingen inget inga intet ingenting utan uden uten ei ' +
  'nigdy nikt żaden не нет нельзя никогда ничего никто без ні ніколи nikdy nem soha nélkül nu niciodată fără ' +
  'δεν μην μη όχι ποτέ değil asla';
/** Who does something and who has it done to him: "whom do I trust", "who trusts me". */
const PERSONS: Readonly<Record<string, string>> = {
  i: 'i im ive id ill my mine we our ours',
  me: 'me us',
  you: 'you your yours u ur',
  they: 'they their theirs',
  them: 'them',
  it: 'it its',
};
const DIRECTIONS = 'from to into onto than instead over under before after until between via against';
/** Words of no content; those of one value may stand for each other. */
const ROLES: Readonly<Record<keyof Roles, Readonly<Record<string, string>>>> = {
  places: { at: 'at', in: 'in', on: 'on', to: 'to', by: 'by', for: 'for', of: 'of', as: 'as' },
  verbs: {
    can: 'can could',
    might: 'might',
    must: 'must need needs',
    should: 'should shall',
    will: 'will',
    would: 'would',
    is: 'is are am im',
    was: 'was were',
    do: 'do does',
    did: 'did',
    have: 'have has ive',
    had: 'had',
  },
  pointers: { this: 'this', that: 'that', these: 'these', those: 'those' },
};
const NUMBERS =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen';
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety';
const ORDINALS = 'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth';
const SCALES: Readonly<Record<string, number>> = {
  hundred: 100,
  thousand: 1e3,
  million: 1e6,
  billion: 1e9,
  dozen: 12,
};
const UNITS: Readonly<Record<string, string>> = {
  ms: 'millisecond milliseconds msec',
  s: 'sec secs seconds',
  min: 'mins minute minutes',
  h: 'hr hrs hour hours',
  d: 'day days',
  w: 'week weeks',
  mo: 'month months',
  y: 'year years yr yrs',
  '%': 'percent pct',
  $: 'usd dollars dollar bucks',
  '€': 'eur euro euros',
  '£': 'gbp pounds pound quid',
  '¥': 'yen jpy',
  元: 'yuan rmb cny',
  b: 'byte bytes',
  kb: 'kilobyte kilobytes',
  mb: 'megabyte megabytes',
  gb: 'gigabyte gigabytes',
  tb: 'terabyte terabytes',
  kib: 'kibibyte kibibytes',
  mib: 'mebibyte mebibytes',
  gib: 'gibibyte gibibytes',
  tib: 'tebibyte tebibytes',
  km: 'kilometer kilometers kilometre kilometres kms',
  m: 'meter meters metre metres',
  cm: 'centimeter centimeters centimetre centimetres',
  mm: 'millimeter millimeters millimetre millimetres',
  mi: 'mile miles',
  ft: 'foot feet',
  inch: 'inches',
  kg: 'kilogram kilograms kilo kilos kgs',
  g: 'gram grams',
  lb: 'lbs',
  l: 'liter liters litre litres',
  px: 'pixel pixels',
  '°': 'degree degrees',
};
const MONTHS =
  'january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sep/sept october/oct november/nov december/dec';
const WEEKDAYS =
  'monday/mon tuesday/tue/tues wednesday/wed thursday/thu/thur/thurs friday/fri saturday/sat sunday/sun';
const DATES: Readonly<Record<string, string>> = {
  today: 'today',
  tonight: 'evening',
  yesterday: 'yesterday',
  tomorrow: 'tomorrow tmrw tomorow',
  weekend: 'weekend weekends',
  morning: 'morning mornings',
  noon: 'noon midday',
  afternoon: 'afternoon afternoons',
  evening: 'evening evenings',
  night: 'night nights',
  midnight: 'midnight',
  'per:h': 'hourly',
  'per:d': 'daily',
  'per:w': 'weekly',
  'per:mo': 'monthly',
  'per:q': 'quarterly',
  'per:y': 'yearly annual annually',
  christmas: 'christmas xmas',
  easter: 'easter',
};
const DOUBTFUL_DATES = new Set('may march mar jan dec sat sun mon wed'.split(' '));

function buildLexicon(): Map<string, WordEntry> {
  const lexicon = new Map<string, WordEntry>();
  const put = (words: string, more: WordEntry): void => {
    for (const word of words.split(' ')) lexicon.set(word, { ...lexicon.get(word), ...more });
  };
  const sign = (word: string, axis: string, value: string, isWeak: boolean): void => {
    const signs = lexicon.get(word)?.signs ?? [];
    if (!signs.some((known) => known.axis === axis && known.value === value))
      put(word, { signs: [...signs, { axis, value, isWeak }] });
  };
  put(STOP, { isStop: true });
  for (const [use, words] of Object.entries(IDLE_USES)) put(words, { isStop: true, idleAs: use as IdleUse });
  put(`${NEGATORS} ${NEGATORS_ELSEWHERE}`, { isNegator: true });
  for (const [person, words] of Object.entries(PERSONS)) put(`${person} ${words}`, { person });
  put(DIRECTIONS, { isDirection: true });
  for (const [kind, values] of Object.entries(ROLES))
    for (const [value, words] of Object.entries(values))
      put(words, { role: { kind: kind as keyof Roles, value } });
  // Particles, which mean something behind some verbs.
  put('on off in out up down', {});
  for (const [at, word] of NUMBERS.split(' ').entries()) put(word, { number: at });
  for (const [at, word] of TENS.split(' ').entries()) put(word, { number: 20 + 10 * at });
  for (const [at, word] of ORDINALS.split(' ').entries()) put(word, { ordinal: at + 1 });
  for (const [word, scale] of Object.entries(SCALES)) put(word, { scale });
  for (const [unit, words] of Object.entries(UNITS)) put(`${unit} ${words}`, { unit });
  put('second', { unit: 's' });
  for (const [at, words] of MONTHS.split(' ').entries())
    put(words.replaceAll('/', ' '), { date: `m${String(at + 1).padStart(2, '0')}` });
  for (const words of WEEKDAYS.split(' ')) put(words.replaceAll('/', ' '), { date: words.slice(0, 3) });
  for (const [date, words] of Object.entries(DATES)) put(words, { date });
  put('tonight', { date: 'evening' });
  for (const word of DOUBTFUL_DATES) put(word, { isDoubtfulDate: true });
  for (const name of NAMES) put(name, { isName: true });
  for (const [axes, isVerb, isWeak] of [
    [VERB_AXES, true, false],
    [WORD_AXES, false, false],
    [WEAK_AXES, true, true],
  ] as const)
    for (const [axis, values] of Object.entries(axes))
      for (const [value, words] of Object.entries(values))
        for (const word of words.split(' '))
          for (const form of isVerb ? inflect(word) : [word]) sign(form, axis, value, isWeak);
  return lexicon;
}

const LEXICON = buildLexicon();

/** @param word in lower case */
export const lookUp = (word: string): WordEntry | undefined => LEXICON.get(word);

/** Without the ending of a plural; shorter words and -ss, -us, -is stay. */
export function singular(word: string): string {
  const length = word.length;
  if (length < 4 || word.charCodeAt(length - 1) !== 115) return word;
  const before = word.charCodeAt(length - 2);
  // -ss, -us, -is
  if (before === 115 || before === 117 || before === 105) return word;
  if (before !== 101) return word.slice(0, -1);
  if (word.charCodeAt(length - 3) === 105 && length > 4) return `${word.slice(0, -3)}y`;
  return /(?:s|x|z|ch|sh)es$/.test(word) ? word.slice(0, -2) : word.slice(0, -1);
}
