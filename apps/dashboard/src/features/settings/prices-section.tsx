/** What models cost. Saved whole, under a version: when somebody else was faster, nobody's edits are lost. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Plus, Trash2, Undo2 } from 'lucide-react';
import { type Dispatch, type FormEvent, type SetStateAction, useState } from 'react';
import type { PriceTable } from '#contracts';
import { ApiError, api, toRefusal, useDenial } from '../../api';
import { SearchBox } from '../../app/search-box';
import { useEdits } from '../../app/use-draft';
import {
  Button,
  Callout,
  cx,
  EmptyState,
  IconButton,
  Input,
  Panel,
  plural,
  RelativeTime,
  Skeleton,
  Table,
  Td,
  Th,
  toast,
  useFocusFirstError,
} from '../../ui';
import {
  addPrice,
  changeCountOf,
  draftSince,
  EMPTY_MEANS,
  editPrice,
  NO_CHANGES,
  PRICE_FIELDS,
  PRICE_LABELS,
  type PriceDraft,
  type PriceField,
  type PriceRow,
  priceRows,
  removePrice,
  toModels,
} from './price-draft';

const QUERY_KEY = ['prices'];
/** Rows drawn at once, besides those that were refused; the search finds the others. */
const ROWS_SHOWN_MAX = 150;

export function PricesSection() {
  const [draft, setDraft] = useEdits('prices', NO_CHANGES);
  const { data, error } = useQuery({
    queryKey: QUERY_KEY,
    queryFn: () => api.get<PriceTable>('/v1/prices'),
    staleTime: 0,
    // What others saved meanwhile is here when one looks again; under edits nothing moves, and saving them tells of it.
    refetchOnWindowFocus: ({ state }) => changeCountOf(state.data?.models ?? [], draft) === 0,
  });
  // Read once, it stays where it is whatever comes of the next reading: something may be typed in it.
  if (data) return <PriceForm table={data} draft={draft} onDraft={setDraft} />;
  return error ? <Callout tone="danger">{error.message}</Callout> : <Skeleton className="h-96 w-full" />;
}

interface PriceFormProps {
  table: PriceTable;
  draft: PriceDraft;
  onDraft: Dispatch<SetStateAction<PriceDraft>>;
}

function PriceForm({ table, draft, onDraft: setDraft }: PriceFormProps) {
  const queryClient = useQueryClient();
  const denial = useDenial('configure');
  const [q, setQ] = useState('');
  const [errors, setErrors] = useState<Record<string, string>>({});
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: ({ models }: Saving) => api.put<PriceTable>('/v1/prices', { version: table.version, models }),
    onSuccess: (next, { sent }) => {
      queryClient.setQueryData(QUERY_KEY, next);
      setDraft((current) => draftSince(current, sent));
      toast({
        title: 'Prices saved',
        description: `Version ${next.version} counts from the next call on.`,
        tone: 'success',
      });
    },
  });
  const isConflict = error instanceof ApiError && error.reason === 'version_conflict';
  const rows = priceRows(table.models, draft);
  const needle = q.trim().toLowerCase();
  const isRefused = ({ key }: PriceRow) => Object.keys(errors).some((place) => place.startsWith(`${key} `));
  const matching = rows.filter(
    (row) => row.addedId !== null || isRefused(row) || row.model.toLowerCase().includes(needle),
  );
  const shown = matching.filter((row, at) => at < ROWS_SHOWN_MAX || isRefused(row));
  const form = useFocusFirstError(errors);
  const changeCount = changeCountOf(table.models, draft);
  const change = (next: typeof draft) => {
    setDraft(next);
    setErrors({});
    if (error) reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const next = toModels(table.models, draft);
    setErrors(next.errors);
    const isRight = Object.keys(next.errors).length === 0;
    if (isRight && !denial && !isPending && changeCount > 0) mutate({ models: next.models, sent: draft });
  };
  return (
    <form ref={form} onSubmit={submit} noValidate className="flex flex-col gap-3">
      {denial ? <Callout>{denial} You can look, not change.</Callout> : null}
      <div className="flex flex-wrap items-center gap-2">
        <SearchBox
          label="Find a model"
          placeholder="Find a model"
          value={q}
          onChange={setQ}
          className="w-52 max-md:w-full"
        />
        <p className="mr-auto text-muted text-xs">
          <Version table={table} />
        </p>
        <Button
          icon={<Plus size={14} aria-hidden="true" />}
          disabledReason={denial}
          data-testid="price-add"
          onClick={() => change(addPrice(draft))}
        >
          Add model
        </Button>
      </div>
      {isConflict ? (
        <Conflict
          onLoad={async (keepsEdits) => {
            await queryClient.invalidateQueries({ queryKey: QUERY_KEY }, { throwOnError: true });
            if (!keepsEdits) setDraft(NO_CHANGES);
            reset();
          }}
        />
      ) : null}
      {error && !isConflict ? (
        <Callout tone="danger" alert>
          Not saved: {toRefusal(error, () => false).general}
        </Callout>
      ) : null}
      <Panel bodyClassName="">
        <PriceTableView
          rows={shown}
          errors={errors}
          isReadOnly={denial !== null}
          onEdit={(row, field, text) => change(editPrice(draft, row, field, text))}
          onRemove={(row) => change(removePrice(draft, row))}
        />
        {matching.length > shown.length ? (
          <p className="p-3 text-center text-muted text-xs">
            {plural(matching.length - shown.length, 'more model')}: search to find one.
          </p>
        ) : null}
        {matching.length === 0 ? (
          <EmptyState
            title={rows.length === 0 ? 'No model has a price' : 'No model matches'}
            className="py-8"
          />
        ) : null}
      </Panel>
      <p className="text-muted text-xs">
        A name also stands for its dated versions; a trailing * for any ending; the longest match wins. A
        service tier has a line of its own, such as gpt-5 [flex], and so have sound and written pictures,
        [audio] and [image]; without one the cost is unknown. An empty cache price is as input, searches
        without a price cost nothing, and those of OpenAI's preview tool cost as the others. Where a vendor
        takes twice as much for long prompts, so does this table.
      </p>
      <div className="sticky bottom-0 -mx-4 flex items-center gap-2 border-line border-t bg-canvas px-4 py-3">
        <p role="status" className="mr-auto text-muted text-xs">
          {changeCount === 0 ? 'Everything is saved.' : `${changeCount} unsaved`}
          {draft.removed.length > 0 ? (
            <button
              type="button"
              className="ml-2 inline-flex items-center gap-1 text-accent hover:underline"
              disabled={isPending}
              onClick={() => change({ ...draft, removed: [] })}
            >
              <Undo2 size={12} aria-hidden="true" />
              Bring back {plural(draft.removed.length, 'removed model')}
            </button>
          ) : null}
        </p>
        {changeCount > 0 ? (
          <Button disabled={isPending} onClick={() => change(NO_CHANGES)}>
            Discard
          </Button>
        ) : null}
        <Button
          type="submit"
          variant="primary"
          data-testid="prices-save"
          busy={isPending}
          disabled={changeCount === 0}
          disabledReason={denial}
        >
          Save prices
        </Button>
      </div>
    </form>
  );
}

interface Saving {
  models: PriceTable['models'];
  /** The draft that says so. */
  sent: PriceDraft;
}

function Version({ table }: { table: PriceTable }) {
  if (table.version === 0 || table.updated_at_ms === null) return <>The prices this program came with</>;
  return (
    <>
      Version {table.version}, {table.updated_by}, <RelativeTime atMs={table.updated_at_ms} />
    </>
  );
}

function Conflict({ onLoad }: { onLoad: (keepsEdits: boolean) => Promise<void> }) {
  const { mutate: load, isPending, error } = useMutation({ mutationFn: onLoad });
  return (
    <Callout tone="warning" alert>
      <p className="mb-2">
        Somebody else has saved prices meanwhile. Nothing of yours was saved, and nothing of theirs is lost.
      </p>
      <div className="flex flex-wrap gap-2">
        <Button size="sm" variant="primary" busy={isPending} onClick={() => load(true)}>
          Put my edits on top of theirs
        </Button>
        <Button size="sm" disabled={isPending} onClick={() => load(false)}>
          Take theirs, drop mine
        </Button>
      </div>
      {error ? <p className="mt-2 text-danger">Theirs could not be read: {error.message}</p> : null}
    </Callout>
  );
}

interface PriceTableViewProps {
  rows: readonly PriceRow[];
  errors: Readonly<Record<string, string>>;
  isReadOnly: boolean;
  onEdit: (row: PriceRow, field: PriceField | 'model', text: string) => void;
  onRemove: (row: PriceRow) => void;
}

function PriceTableView({ rows, errors, isReadOnly, onEdit, onRemove }: PriceTableViewProps) {
  return (
    <Table className="min-w-[59rem]">
      <thead>
        <tr>
          <Th>Model</Th>
          {PRICE_FIELDS.map((field) => (
            <Th key={field} className="w-28 !px-2">
              {PRICE_LABELS[field]}
            </Th>
          ))}
          <Th className="w-12">
            <span className="sr-only">Actions</span>
          </Th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.key} data-testid="price-row" className={cx(row.isChanged && 'bg-accent-soft/40')}>
            <Td className="!py-1">
              {row.addedId === null ? (
                <span className="whitespace-nowrap font-mono text-xs">{row.model}</span>
              ) : (
                <PriceInput
                  label="Model"
                  text={row.model}
                  error={errors[`${row.key} model`]}
                  isReadOnly={isReadOnly}
                  placeholder="gpt-5-mini or my-model-*"
                  onChange={(text) => onEdit(row, 'model', text)}
                />
              )}
            </Td>
            {PRICE_FIELDS.map((field) => (
              <Td key={field} className="!px-1 !py-1">
                <PriceInput
                  label={`${PRICE_LABELS[field]} price of ${row.model || 'the new model'}`}
                  text={row.texts[field]}
                  error={errors[`${row.key} ${field}`]}
                  isReadOnly={isReadOnly}
                  placeholder={EMPTY_MEANS[field] ?? ''}
                  onChange={(text) => onEdit(row, field, text)}
                />
              </Td>
            ))}
            <Td className="!px-1.5 !py-1 text-right">
              {isReadOnly ? null : (
                <IconButton
                  label={`Remove ${row.model || 'the new model'}`}
                  icon={<Trash2 size={14} aria-hidden="true" />}
                  onClick={() => onRemove(row)}
                />
              )}
            </Td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

interface PriceInputProps {
  label: string;
  text: string;
  error: string | undefined;
  isReadOnly: boolean;
  placeholder: string;
  onChange: (text: string) => void;
}

function PriceInput({ label, text, error, isReadOnly, placeholder, onChange }: PriceInputProps) {
  return (
    <>
      <Input
        aria-label={label}
        aria-invalid={error ? true : undefined}
        title={error}
        value={text}
        readOnly={isReadOnly}
        placeholder={placeholder}
        autoComplete="off"
        onChange={(event) => onChange(event.target.value)}
        className={cx(
          'nums !h-7 !min-w-[9.5ch] !px-2 text-xs',
          isReadOnly && '!border-transparent !bg-transparent',
        )}
      />
      {error ? (
        <p role="alert" className="text-danger text-xs">
          {error}
        </p>
      ) : null}
    </>
  );
}
