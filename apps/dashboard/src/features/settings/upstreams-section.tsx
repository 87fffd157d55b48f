/** Where the proxy sends calls, and whose vendor key pays. What the environment sets can be seen here, not changed. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { KeyRound, Lock, Plus } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { UPSTREAM_KINDS, type Upstream, type UpstreamKind } from '#contracts';
import { api, toRefusal, useDenial } from '../../api';
import {
  Badge,
  Button,
  Callout,
  ConfirmDialog,
  CopyButton,
  Dialog,
  Field,
  Input,
  Panel,
  Select,
  Skeleton,
} from '../../ui';
import { envName, proxyPathOf } from './upstream-names';

const QUERY_KEY = ['upstreams'];
const KIND_LABELS: Record<UpstreamKind, string> = {
  openai: 'OpenAI-compatible',
  anthropic: 'Anthropic',
  gemini: 'Gemini',
};
const KINDS = UPSTREAM_KINDS.map((value) => ({ value, label: KIND_LABELS[value] }));
const pathOf = (name: string): string => `/v1/upstreams/${encodeURIComponent(name)}`;

export function UpstreamsSection() {
  const denial = useDenial('configure');
  const [edited, setEdited] = useState<Upstream | 'new' | null>(null);
  const { data, error } = useQuery({
    queryKey: QUERY_KEY,
    queryFn: async () => (await api.get<{ items: Upstream[] }>('/v1/upstreams')).items,
    staleTime: 0,
  });
  return (
    <div className="flex flex-col gap-3">
      {denial ? <Callout>{denial} You can look, not change.</Callout> : null}
      {error ? <Callout tone="danger">{error.message}</Callout> : null}
      <div className="flex justify-end">
        <Button
          data-testid="upstream-create"
          icon={<Plus size={14} aria-hidden="true" />}
          disabledReason={denial}
          onClick={() => setEdited('new')}
          className="max-md:h-10"
        >
          Add upstream
        </Button>
      </div>
      {data ? (
        <Panel bodyClassName="">
          <ul className="divide-y divide-line">
            {data.map((upstream) => (
              <li key={upstream.name}>
                <UpstreamRow upstream={upstream} denial={denial} onEdit={() => setEdited(upstream)} />
              </li>
            ))}
          </ul>
        </Panel>
      ) : error ? null : (
        <Skeleton className="h-48 w-full" />
      )}
      {edited === null ? null : (
        <UpstreamDialog upstream={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />
      )}
    </div>
  );
}

interface UpstreamRowProps {
  upstream: Upstream;
  denial: string | null;
  onEdit: () => void;
}

function UpstreamRow({ upstream, denial, onEdit }: UpstreamRowProps) {
  const queryClient = useQueryClient();
  const [asks, setAsks] = useState<'key' | 'upstream' | null>(null);
  const { name, source } = upstream;
  const proxyUrl = `${window.location.origin}${proxyPathOf(upstream)}`;
  const isFixed = source === 'environment';
  const refresh = () => queryClient.invalidateQueries({ queryKey: QUERY_KEY });
  return (
    <article
      data-testid="upstream-row"
      data-name={name}
      className="flex items-start gap-3 px-3 py-3 max-md:flex-wrap"
    >
      <div className="min-w-0 flex-1 max-md:basis-full">
        <h2 className="flex flex-wrap items-center gap-2">
          <span className="font-medium font-mono">{name}</span>
          <span className="text-muted text-xs">{KIND_LABELS[upstream.kind]}</span>
          {upstream.key === 'ours' ? (
            <Badge tone="accent" icon={<KeyRound size={11} aria-hidden="true" />}>
              Our key
            </Badge>
          ) : (
            <Badge title="The caller’s own vendor key goes through; the agent key travels in x-observatory-key.">
              Caller’s key
            </Badge>
          )}
          {isFixed ? (
            <Badge icon={<Lock size={11} aria-hidden="true" />}>Environment</Badge>
          ) : source === 'default' ? (
            <Badge>Built in</Badge>
          ) : null}
        </h2>
        <p className="truncate font-mono text-muted text-xs" title={upstream.base_url}>
          {upstream.base_url}
        </p>
        <p className="flex min-w-0 items-center gap-1 text-xs">
          <span className="shrink-0 text-muted">Clients use</span>
          <span className="truncate font-mono" title={proxyUrl}>
            {proxyUrl}
          </span>
          <CopyButton text={proxyUrl} label={`Copy the base URL of ${name}`} />
        </p>
        {isFixed ? (
          <p className="text-muted text-xs">
            Set by <code className="font-mono">{envName(name)}</code>, which wins over what is set here.
          </p>
        ) : null}
      </div>
      {isFixed ? null : (
        <span className="ml-auto flex shrink-0 flex-wrap items-center justify-end gap-1.5">
          {upstream.key === 'ours' ? (
            <Button
              size="sm"
              disabledReason={denial}
              onClick={() => setAsks('key')}
              aria-label={`Remove key of ${name}`}
            >
              Remove key
            </Button>
          ) : null}
          <Button
            size="sm"
            disabledReason={denial}
            onClick={onEdit}
            aria-label={upstream.key === 'ours' ? `Edit ${name}` : `Edit or set key of ${name}`}
          >
            {upstream.key === 'ours' ? 'Edit' : 'Edit or set key'}
          </Button>
          {source === 'settings' ? (
            <Button
              size="sm"
              variant="danger-quiet"
              disabledReason={denial}
              onClick={() => setAsks('upstream')}
              aria-label={`Delete ${name}`}
            >
              Delete
            </Button>
          ) : null}
        </span>
      )}
      <ConfirmDialog
        open={asks === 'key'}
        onOpenChange={(open) => open || setAsks(null)}
        title={`Remove the key of ${name}?`}
        description="From then on callers need a vendor key of their own, which passes through."
        confirmLabel="Remove key"
        onConfirm={async () => {
          await api.put(pathOf(name), { base_url: upstream.base_url, kind: upstream.kind, api_key: null });
          await refresh();
        }}
      />
      <ConfirmDialog
        open={asks === 'upstream'}
        onOpenChange={(open) => open || setAsks(null)}
        title={`Delete ${name}?`}
        description="Its settings and key are removed. A built-in upstream goes back to what it was."
        confirmLabel="Delete upstream"
        onConfirm={async () => {
          await api.delete(pathOf(name));
          await refresh();
        }}
      />
    </article>
  );
}

interface UpstreamDialogProps {
  /** Null: a new one. */
  upstream: Upstream | null;
  onClose: () => void;
}

function UpstreamDialog({ upstream, onClose }: UpstreamDialogProps) {
  const queryClient = useQueryClient();
  const [name, setName] = useState(upstream?.name ?? '');
  const [kind, setKind] = useState<UpstreamKind>(upstream?.kind ?? 'openai');
  const [baseUrl, setBaseUrl] = useState(upstream?.base_url ?? '');
  const [key, setKey] = useState('');
  const [typos, setTypos] = useState<Record<string, string>>({});
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      api.put(pathOf(name.trim()), {
        base_url: baseUrl.trim(),
        kind,
        ...(key.trim() ? { api_key: key.trim() } : {}),
      }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: QUERY_KEY });
      onClose();
    },
  });
  const refusal = toRefusal(error, (path) => ['name', 'base_url', 'api_key'].includes(path));
  const problems: Readonly<Record<string, string>> = { ...refusal.fields, ...typos };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const next: Record<string, string> = {};
    if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(name.trim()))
      next.name = 'Lower-case letters, digits and -, at most 63.';
    if (!/^https?:\/\/./i.test(baseUrl.trim())) next.base_url = 'Begin with https:// or http://.';
    setTypos(next);
    if (!isPending && Object.keys(next).length === 0) mutate();
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={upstream ? `Edit ${upstream.name}` : 'Add upstream'}
    >
      <form onSubmit={submit} noValidate autoComplete="off" className="flex flex-col gap-3">
        {upstream ? null : (
          <Field label="Name" hint="Part of the base URL, such as local-llm." error={problems.name}>
            <Input value={name} autoComplete="off" onChange={(event) => setName(event.target.value)} />
          </Field>
        )}
        <div className="flex flex-col gap-1">
          <span aria-hidden="true" className="font-medium text-xs">
            Speaks
          </span>
          <Select label="Speaks" value={kind} options={KINDS} onChange={setKind} className="w-full" />
        </div>
        <Field
          label="Base URL"
          hint="With its version path, as the vendor’s SDK takes it."
          error={problems.base_url}
        >
          <Input
            value={baseUrl}
            inputMode="url"
            placeholder="https://llm.example.org/v1"
            onChange={(event) => setBaseUrl(event.target.value)}
          />
        </Field>
        <Field
          label="Vendor key"
          hint={
            upstream?.key === 'ours'
              ? 'Empty: the one kept here stays.'
              : 'Encrypted, and never shown again. Empty: the caller’s own key passes through.'
          }
          error={problems.api_key}
        >
          <Input
            type="password"
            value={key}
            autoComplete="new-password"
            onChange={(event) => setKey(event.target.value)}
          />
        </Field>
        {refusal.general ? (
          <Callout tone="danger" alert>
            Not saved: {refusal.general}
          </Callout>
        ) : null}
        <div className="flex justify-end gap-2 pb-1">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" data-testid="upstream-save" busy={isPending}>
            Save upstream
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
