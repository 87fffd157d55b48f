import { describe, expect, it } from 'vitest';
import { type ModelPrice, priceTablePutSchema } from '#contracts';
import {
  addPrice,
  changeCountOf,
  draftSince,
  editPrice,
  NO_CHANGES,
  priceRows,
  removePrice,
  toModels,
} from './price-draft';

const price = (model: string, input_usd: number): ModelPrice => ({
  model,
  input_usd,
  output_usd: input_usd * 4,
  cached_input_usd: null,
  cache_write_usd: null,
});
const table = [price('a', 1), price('b', 2)];
const row = (model: string, draft = NO_CHANGES) => {
  const found = priceRows(table, draft).find((one) => one.model === model);
  if (!found) throw new Error(`no row ${model}`);
  return found;
};

describe('a draft of the price table', () => {
  it('changes, removes and adds', () => {
    let draft = editPrice(NO_CHANGES, row('a'), 'input_usd', '1.5');
    draft = removePrice(draft, row('b'));
    draft = addPrice(draft);
    draft = editPrice(draft, row('', draft), 'model', 'c*');
    draft = editPrice(draft, row('c*', draft), 'input_usd', '3');
    draft = editPrice(draft, row('c*', draft), 'output_usd', '9');
    expect(changeCountOf(table, draft)).toBe(3);
    const { models, errors } = toModels(table, draft);
    expect(errors).toEqual({});
    expect(models.map(({ model, input_usd }) => [model, input_usd])).toEqual([
      ['a', 1.5],
      ['c*', 3],
    ]);
    expect(priceTablePutSchema.safeParse({ version: 4, models }).success).toBe(true);
  });

  it('leaves a price that the page does not know as it is', () => {
    const models = [{ ...price('a', 1), of_a_later_version_usd: 25 }];
    const draft = editPrice(NO_CHANGES, priceRows(models, NO_CHANGES)[0] ?? row('a'), 'input_usd', '2');
    expect(toModels(models, draft).models).toMatchObject([{ input_usd: 2, of_a_later_version_usd: 25 }]);
  });

  it('takes and clears what searches cost, those of the preview tool by themselves', () => {
    const models = [{ ...price('a', 1), search_usd: 10, search_preview_usd: 25 }];
    const [known] = priceRows(models, NO_CHANGES);
    if (!known) throw new Error('no row');
    expect(known.texts).toMatchObject({ search_usd: '10', search_preview_usd: '25' });
    const saved = (text: string) =>
      toModels(models, editPrice(NO_CHANGES, known, 'search_preview_usd', text)).models;
    expect(saved('30')).toMatchObject([{ search_usd: 10, search_preview_usd: 30 }]);
    expect(saved('')).toMatchObject([{ search_usd: 10, search_preview_usd: null }]);
  });

  it('lies on top of what somebody else saved meanwhile', () => {
    const draft = editPrice(NO_CHANGES, row('a'), 'input_usd', '1.5');
    const theirs = [price('a', 1), price('b', 7), price('d', 5)];
    expect(toModels(theirs, draft).models.map(({ model, input_usd }) => [model, input_usd])).toEqual([
      ['a', 1.5],
      ['b', 7],
      ['d', 5],
    ]);
  });

  it('is no change when the old price is typed again', () => {
    const draft = editPrice(NO_CHANGES, row('a'), 'input_usd', '1');
    expect(changeCountOf(table, draft)).toBe(0);
  });

  it('names what is missing, doubled or no price', () => {
    let draft = addPrice(NO_CHANGES);
    expect(Object.keys(toModels(table, draft).errors)).toEqual([
      'new-1 model',
      'new-1 input_usd',
      'new-1 output_usd',
    ]);
    draft = editPrice(draft, row('', draft), 'model', 'a');
    draft = editPrice(draft, row('b', draft), 'output_usd', '-1');
    draft = editPrice(draft, row('b', draft), 'input_usd', '200000');
    expect(toModels(table, draft).errors).toMatchObject({
      'a model': 'This model is in the table already.',
      'b input_usd': 'At most 100000.',
      'b output_usd': 'Enter a price.',
    });
  });

  it('keeps what was edited while it was being saved', () => {
    let sent = editPrice(NO_CHANGES, row('a'), 'input_usd', '1.5');
    for (const name of ['e', 'd', 'c']) {
      sent = editPrice(addPrice(sent), { ...row('a'), addedId: sent.added.length + 1 }, 'model', name);
    }
    expect(draftSince(sent, sent)).toMatchObject({ removed: [], added: [] });
    expect(changeCountOf(table, draftSince(sent, sent))).toBe(0);

    let draft = editPrice(sent, row('a', sent), 'output_usd', '9');
    draft = editPrice(draft, row('c', draft), 'input_usd', '7');
    draft = editPrice(draft, row('d', draft), 'model', 'd2');
    draft = removePrice(removePrice(draft, row('e', draft)), row('b', draft));
    const since = draftSince(draft, sent);
    expect(since.changed).toEqual({ a: { output_usd: '9' }, c: { input_usd: '7' } });
    expect(since.removed.toSorted()).toEqual(['b', 'd', 'e']);
    expect(since.added.map(({ model }) => model)).toEqual(['d2']);
  });
});
