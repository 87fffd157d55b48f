import { describe, expect, it } from 'vitest';
import { askedOf, Opening, questionIn } from './opening.js';

const CONTEXT = '<environment_context>\n  <cwd>/srv</cwd>\n</environment_context>';
const REMINDER = '<system-reminder>\nBe brief.\n</system-reminder>\n\n';

describe('askedOf', () => {
  it.each([
    ['surroundings in front', [CONTEXT, 'Why?'], 'Why?'],
    ['several in one part', [`${REMINDER}${CONTEXT}`, 'Why?'], 'Why?'],
    ['a question among them', [REMINDER, `${REMINDER}Why?${REMINDER}`], `${REMINDER}Why?${REMINDER}`],
    ['what only begins like them', [REMINDER, '<system-reminder> is a tag.'], '<system-reminder> is a tag.'],
    [
      'another tag, which is what the question is about',
      ['<page>x</page>', 'Sum up.'],
      '<page>x</page>\nSum up.',
    ],
    ['nothing else', [CONTEXT, REMINDER], `${CONTEXT}\n${REMINDER}`],
  ])('of %s', (_, texts, asked) => {
    expect(askedOf(texts)).toBe(asked);
  });

  it('of surroundings that came with something else is nothing', () => {
    expect(askedOf([REMINDER], false)).toBe('');
  });
});

describe('questionIn', () => {
  it.each([
    ['what came with the time in front', `<current_datetime>2026</current_datetime>\n\nWhy?`, '\n\nWhy?'],
    ['what came with several', `${REMINDER}${CONTEXT}Why?`, 'Why?'],
    ['surroundings alone', REMINDER, REMINDER],
    ['a question about a tag', '<page>x</page> Why?', '<page>x</page> Why?'],
    ['what only begins like them', '<system-reminder> is a tag.', '<system-reminder> is a tag.'],
  ])('%s', (_, text, question) => {
    expect(questionIn(text)).toBe(question);
  });
});

describe('an opening', () => {
  const read = ({ text }: { text?: unknown }) => ({ text: String(text) });

  it('goes on to the first message that asks, and no further', () => {
    const opening = new Opening();
    opening.addSystem('');
    opening.addSystem('You code.');
    opening.addUser(CONTEXT, read);
    expect(opening.isOver).toBe(false);
    opening.addUser([{ text: REMINDER }, { text: 'Why?' }], read);
    opening.addUser('And then?', read);
    expect(opening).toMatchObject({ isOver: true, systemText: 'You code.', firstUserText: 'Why?' });
  });

  it('ends with a message of nothing but a picture', () => {
    const opening = new Opening();
    opening.addUser([], read);
    opening.addUser('And then?', read);
    expect(opening).toMatchObject({ isOver: true, firstUserText: '' });
  });

  it('ends where words of the model begin in the same message', () => {
    const of = (text: string) => {
      const opening = new Opening();
      opening.addUser(text, read);
      return opening.firstUserText;
    };
    const asked = 'Answer.\nThought: what to do\nObservation: what came\n\nBegin!\n\nQuestion: Why?';
    expect(of(`${asked}\nThought:`)).toBe(asked);
    expect(of(`${asked}\nThought: hm\nAction: a\nAction Input: 1\nObservation: 2\nThought: `)).toBe(asked);
    expect(of(`${asked}\n`)).toBe(asked);
    expect(of('Begin!\nThought: why?')).toBe('Begin!\nThought: why?');
  });
});
