/** What models cost. Saved whole, under a version: when somebody else was faster, nobody's edits are lost. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Plus, Undo2 } from 'lucide-react';
import { type Dispatch, type FormEvent, type SetStateAction, useState } from 'react';
import type { PriceTable } from '#contracts';
import { ApiError, api, showAnswer, toRefusal, useDenial } from '../../api';
import { SearchBox } from '../../app/search-box';
import { useEdits } from '../../app/use-draft';
import {
  Button,
  Callout,
  EmptyState,
  Panel,
  plural,
  RelativeTime,
  SaveBar,
  Skeleton,
  toast,
  useFocusFirstError,
} from '../../ui';
import {
  addPrice,
  changeCountOf,
  draftSince,
  editPrice,
  NO_CHANGES,
  type PriceDraft,
  type PriceRow,
  priceRows,
  removePrice,
  toModels,
} from './price-draft';
import { PriceTableView } from './price-table-view';

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
      showAnswer(queryClient, QUERY_KEY, next);
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
      <SaveBar
        changeCount={changeCount}
        label="Save prices"
        testId="prices-save"
        isPending={isPending}
        denial={denial}
        onDiscard={() => change(NO_CHANGES)}
      >
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
      </SaveBar>
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
