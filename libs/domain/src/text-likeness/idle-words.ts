/**
 * Where a function word says nothing: "could you", "I want to", "please" at an edge, "there is". Elsewhere the same word
 * may be what is asked about ("how do you say please", "is it safe here"), and then it counts.
 */
import { type IdleUse, lookUp } from './lexicon.js';
import { isCapital, type Token } from './text-facts.js';

export const DETERMINERS = new Set([
  'a',
  'an',
  'the',
  'my',
  'your',
  'our',
  'his',
  'her',
  'their',
  'this',
  'that',
]);
/** Verbs that open a question of yes or no when they open a sentence. */
const OPENING_VERBS = new Set(
  'do does did is am are was were have has had can could will would shall should might must'.split(' '),
);
const FORMS_OF_BE = new Set('is are am was were be been'.split(' '));
const HAVE_OR_NEED = new Set('have has had need needs'.split(' '));
const MUST = 'must';
/** In front of "you" politeness, with what is wished behind it. */
const MODALS = new Set(['can', 'could', 'will', 'would']);
/** "How do I", "how can you": any of them asks how it is done. */
const WAYS_TO_DO = new Set('do can could should shall will would must might'.split(' '));
const WHO_DOES = new Set(['i', 'we', 'you']);
const WHO_WANTS = new Set(['i', 'we']);
const ME = new Set(['me', 'us']);
/** Behind `to`; `me` and `us` are those who ask. */
const PERSONS_ASKED = new Set('you him her them whom'.split(' '));
const GREETINGS = new Set('please hi hey hello so and ok okay well thanks'.split(' '));
const GREETINGS_MAX = 8;
/** Behind these a word is spoken of. */
const VERBS_OF_SAYING = new Set('say spell write type word translate pronounce'.split(' '));
/** Between who wishes and what is wished: "I would just like". */
const BEFORE_A_WISH = new Set('just also do did was am im would should might will have'.split(' '));
const BEHIND_A_LIKING = new Set(['would', 'id', 'd']);
const BEHIND_JOINED = new Set('like love prefer rather be'.split(' '));

/** @param use what the word at this place is without content as */
export function isIdle(use: IdleUse, tokens: readonly Token[], at: number): boolean {
  const token = tokens[at] as Token;
  const before = tokens[at - 1];
  const after = token.isClosing ? undefined : tokens[at + 1];
  switch (use) {
    case 'thanks':
      if (opens(tokens, at)) return true;
      if (VERBS_OF_SAYING.has(before?.text ?? '')) return false;
      return after === undefined || isCourtesy(after) || isLight(before);
    case 'greeting':
      return opens(tokens, at);
    case 'wish':
      return token.text === 'like' ? BEHIND_A_LIKING.has(before?.text ?? '') : isWish(tokens, at);
    case 'request':
      return opens(tokens, at) || (ME.has(after?.text ?? '') && isAskedOf(tokens, at));
    case 'there':
      return (
        isAuxiliary(after?.text) || (after === undefined ? isExisting(before) : isAuxiliary(before?.text))
      );
    case 'here':
      return opens(tokens, at);
    case 'so':
      return opens(tokens, at) || after?.text === 'that' || lookUp(after?.text ?? '')?.person !== undefined;
    case 'just':
      return after === undefined || (after.kind !== 'number' && !DETERMINERS.has(after.text));
    case 'clipped':
      return !isCapital(token) && isLight(before);
    case 'joined':
      return opens(tokens, at) || BEHIND_JOINED.has(after?.text ?? '');
    case 'nothing':
      return false;
  }
}

/** The first word of a sentence or clause, but for some greetings. */
function opens(tokens: readonly Token[], at: number): boolean {
  for (let first = at; first >= at - GREETINGS_MAX; first -= 1) {
    const before = tokens[first - 1];
    if (before === undefined || before.isClosing || tokens[first]?.isOpening) return true;
    if (!GREETINGS.has(before.text)) return false;
  }
  return false;
}

const isExisting = (token: Token | undefined): boolean => /^(?:is|are|was|were)$/.test(token?.text ?? '');

const isAuxiliary = (word = ''): boolean => FORMS_OF_BE.has(word) || OPENING_VERBS.has(word);

const isCourtesy = ({ text }: Token): boolean => text === 'you' || lookUp(text)?.idleAs === 'thanks';

const isLight = (token: Token | undefined): boolean =>
  token !== undefined && lookUp(token.text)?.isStop === true;

/** "I just want", "we would need", "want to"; not "what plants need". */
function isWish(tokens: readonly Token[], at: number): boolean {
  let who = at - 1;
  while (BEFORE_A_WISH.has(tokens[who]?.text ?? '')) who -= 1;
  return lookUp(tokens[who]?.text ?? '')?.person === 'i' || (who === at - 1 && opens(tokens, at));
}

/** "please tell me", "could you tell me"; not "what did you tell me". */
const isAskedOf = (tokens: readonly Token[], verb: number): boolean => {
  const [whom, before] = [tokens[verb - 2]?.text ?? '', tokens[verb - 1]?.text ?? ''];
  return opens(tokens, verb) || before === 'please' || (before === 'you' && MODALS.has(whom));
};

/**
 * What a word without content says here. "could you", "how can I", "explain it to me" and "I have to" are ways to ask; `to`
 * before a verb is grammar, before which `have` and `need` are duties.
 *
 * @param value what it says elsewhere
 * @returns null: nothing
 */
export function roleOf(value: string, tokens: readonly Token[], at: number): string | null {
  const [before, { text: word }, after = ''] = [
    tokens[at - 1]?.text,
    tokens[at] as Token,
    tokens[at + 1]?.text,
  ];
  if (word === 'to') return isThing(tokens[at + 1]) || PERSONS_ASKED.has(after) ? value : null;
  if (word === 'for') return ME.has(after) ? null : value;
  if (HAVE_OR_NEED.has(word)) {
    if (after === 'to') return isStatement(tokens, at) ? null : MUST;
    return value === MUST ? null : value;
  }
  if (MODALS.has(word) && after === 'you' && opens(tokens, at)) return null;
  if (word === 'would' && BEHIND_JOINED.has(after)) return null;
  return before === 'how' && WAYS_TO_DO.has(word) && WHO_DOES.has(after) ? null : value;
}

/** "Could you", "tell me", "thank you". */
export function isIdlePerson(tokens: readonly Token[], at: number): boolean {
  const { text: word } = tokens[at] as Token;
  const before = tokens[at - 1]?.text ?? '';
  if (ME.has(word)) return lookUp(before)?.idleAs === 'request' && isAskedOf(tokens, at - 1);
  return word === 'you' && (before === 'thank' || (MODALS.has(before) && opens(tokens, at - 1)));
}

/** A sentence that opens with "I need to" says what is wanted; "do I need to" and "what I need to" are about a duty. */
const isStatement = (tokens: readonly Token[], at: number): boolean =>
  WHO_WANTS.has(tokens[at - 1]?.text ?? '') && opens(tokens, at - 1);

/** "Do I need it" against "I need it"; "could you" is politeness, "do not" is no question. */
export function asksYesOrNo(tokens: readonly Token[], at: number): boolean {
  const { text: word } = tokens[at] as Token;
  const after = tokens[at + 1]?.text;
  return (
    OPENING_VERBS.has(word) && opens(tokens, at) && after !== 'not' && !(MODALS.has(word) && after === 'you')
  );
}

export const isThing = (token: Token | undefined): boolean =>
  token !== undefined &&
  (token.kind === 'number' ||
    (token.kind === 'word' &&
      (DETERMINERS.has(token.text) || isCapital(token) || lookUp(token.text)?.isName === true)));
