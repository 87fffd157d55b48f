/**
 * Edits of the price table, kept apart from the table itself: when somebody else saves meanwhile, the same edits can be
 * put on top of theirs. Pure.
 */
import { type ModelPrice, PRICE_USD_MAX } from '#contracts';
import { withoutSent } from '../../api/without-sent';

export const PRICE_FIELDS = [
  'input_usd',
  'output_usd',
  'cached_input_usd',
  'cache_write_usd',
  'cache_write_hour_usd',
  'search_usd',
  'search_preview_usd',
  'file_search_usd',
] as const;
export type PriceField = (typeof PRICE_FIELDS)[number];

export const PRICE_LABELS: Record<PriceField, string> = {
  input_usd: 'Input',
  output_usd: 'Output',
  cached_input_usd: 'Cached input',
  cache_write_usd: 'Cache write',
  cache_write_hour_usd: 'Cache write, 1 h',
  search_usd: 'Search',
  search_preview_usd: 'Preview search',
  file_search_usd: 'File search',
};

/** What an empty price means, where one may be. */
export const EMPTY_MEANS: Partial<Record<PriceField, string>> = {
  cached_input_usd: 'as input',
  cache_write_usd: 'as input',
  cache_write_hour_usd: 'as write',
  search_usd: 'free',
  search_preview_usd: 'as search',
  file_search_usd: 'free',
};

export type PriceTexts = Record<PriceField, string>;

export interface PriceDraft {
  /** Model of the table -> texts typed over its prices. */
  changed: Readonly<Record<string, Partial<PriceTexts>>>;
  removed: readonly string[];
  /** In the order in which they were added; `id` tells rows without a name apart. */
  added: readonly (PriceTexts & { id: number; model: string })[];
}

export const NO_CHANGES: PriceDraft = { changed: {}, removed: [], added: [] };

export interface PriceRow {
  /** Model of the table, or the id of an added row. */
  key: string;
  addedId: number | null;
  model: string;
  texts: PriceTexts;
  isChanged: boolean;
}

const textOf = (value: number | null | undefined): string => String(value ?? '');

const textsOf = (price: ModelPrice): PriceTexts => ({
  input_usd: textOf(price.input_usd),
  output_usd: textOf(price.output_usd),
  cached_input_usd: textOf(price.cached_input_usd),
  cache_write_usd: textOf(price.cache_write_usd),
  cache_write_hour_usd: textOf(price.cache_write_hour_usd),
  search_usd: textOf(price.search_usd),
  search_preview_usd: textOf(price.search_preview_usd),
  file_search_usd: textOf(price.file_search_usd),
});

/** The table as it would be, added rows first. */
export function priceRows(models: readonly ModelPrice[], draft: PriceDraft): PriceRow[] {
  const added = draft.added.map(({ id, model, ...texts }) => ({
    key: `new-${id}`,
    addedId: id,
    model,
    texts,
    isChanged: true,
  }));
  const known = models
    .filter(({ model }) => !draft.removed.includes(model))
    .map((price) => ({
      key: price.model,
      addedId: null,
      model: price.model,
      texts: { ...textsOf(price), ...draft.changed[price.model] },
      isChanged: isChanged(price, draft.changed[price.model]),
    }));
  return [...added, ...known];
}

const isChanged = (price: ModelPrice, texts: Partial<PriceTexts> | undefined): boolean =>
  PRICE_FIELDS.some((field) => {
    const typed = texts?.[field]?.trim();
    return typed !== undefined && typed !== textsOf(price)[field];
  });

export const changeCountOf = (models: readonly ModelPrice[], draft: PriceDraft): number =>
  priceRows(models, draft).filter((row) => row.isChanged).length +
  draft.removed.filter((name) => models.some(({ model }) => model === name)).length;

export function editPrice(
  draft: PriceDraft,
  row: PriceRow,
  field: PriceField | 'model',
  text: string,
): PriceDraft {
  if (row.addedId !== null) {
    const added = draft.added.map((one) => (one.id === row.addedId ? { ...one, [field]: text } : one));
    return { ...draft, added };
  }
  if (field === 'model') return draft;
  return { ...draft, changed: { ...draft.changed, [row.key]: { ...draft.changed[row.key], [field]: text } } };
}

export function removePrice(draft: PriceDraft, row: PriceRow): PriceDraft {
  if (row.addedId !== null) return { ...draft, added: draft.added.filter(({ id }) => id !== row.addedId) };
  return { ...draft, removed: [...draft.removed, row.key] };
}

export function addPrice(draft: PriceDraft): PriceDraft {
  const id = Math.max(0, ...draft.added.map((one) => one.id)) + 1;
  const row = {
    id,
    model: '',
    input_usd: '',
    output_usd: '',
    cached_input_usd: '',
    cache_write_usd: '',
    cache_write_hour_usd: '',
    search_usd: '',
    search_preview_usd: '',
    file_search_usd: '',
  };
  return { ...draft, added: [row, ...draft.added] };
}

/**
 * What was edited since the draft was `sent` and saved. A row that it added is one of the table now: what was typed over it
 * since is a change of it, under another name a row of its own, and taken away it is removed.
 */
export function draftSince(draft: PriceDraft, sent: PriceDraft): PriceDraft {
  const changed: Record<string, Partial<PriceTexts>> = {};
  for (const [model, texts] of Object.entries(draft.changed))
    changed[model] = withoutSent(texts, sent.changed[model] ?? {});
  const removed = draft.removed.filter((model) => !sent.removed.includes(model));
  const added = draft.added.filter(
    ({ id, model }) => model !== sent.added.find((row) => row.id === id)?.model,
  );
  for (const { id, model, ...before } of sent.added) {
    const row = draft.added.find((one) => one.id === id);
    if (row?.model !== model) removed.push(model.trim());
    else {
      const { id: _id, model: _model, ...texts } = row;
      changed[model.trim()] = withoutSent<Partial<PriceTexts>>(texts, before);
    }
  }
  return { changed, removed, added };
}

/** The whole table to send, or what is wrong, by `<row key> <field>`. */
export function toModels(
  models: readonly ModelPrice[],
  draft: PriceDraft,
): { models: ModelPrice[]; errors: Record<string, string> } {
  const errors: Record<string, string> = {};
  const seen = new Set<string>();
  const before = new Map(models.map((price) => [price.model, price]));
  const next = priceRows(models, draft).map((row): ModelPrice => {
    const name = row.model.trim();
    if (name === '') errors[`${row.key} model`] = 'Name the model.';
    else if (seen.has(name)) errors[`${row.key} model`] = 'This model is in the table already.';
    seen.add(name);
    const read = (field: PriceField): number | null => {
      const text = row.texts[field].trim();
      if (text === '' && EMPTY_MEANS[field] !== undefined) return null;
      const value = Number(text);
      if (text === '' || !Number.isFinite(value) || value < 0) {
        errors[`${row.key} ${field}`] = 'Enter a price.';
        return 0;
      }
      if (value > PRICE_USD_MAX) errors[`${row.key} ${field}`] = `At most ${PRICE_USD_MAX}.`;
      return value;
    };
    return {
      // What this page does not know stays as it is.
      ...before.get(row.key),
      model: name,
      input_usd: read('input_usd') ?? 0,
      output_usd: read('output_usd') ?? 0,
      cached_input_usd: read('cached_input_usd'),
      cache_write_usd: read('cache_write_usd'),
      cache_write_hour_usd: read('cache_write_hour_usd'),
      search_usd: read('search_usd'),
      search_preview_usd: read('search_preview_usd'),
      file_search_usd: read('file_search_usd'),
    };
  });
  return { models: next.sort((a, b) => a.model.localeCompare(b.model)), errors };
}
