/** Where the proxy sends calls, and whose vendor key pays. What the environment sets can be seen here, not changed. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { KeyRound, Lock, Plus } from 'lucide-react';
import { useState } from 'react';
import type { Upstream } from '#contracts';
import { api, useDenial } from '../../api';
import { useDraft } from '../../app/use-draft';
import { Address, Badge, Button, Callout, ConfirmDialog, CopyButton, Panel, Skeleton } from '../../ui';
import { meanwhileText } from '../dialog-form/meanwhile';
import { UpstreamDialog } from './upstream-dialog';
import { envName, KIND_LABELS, proxyPathOf, UPSTREAMS_KEY, upstreamPath } from './upstream-names';

const REFRESH_MS = 15_000;

export function UpstreamsSection() {
  const denial = useDenial('configure');
  const [edited, setEdited] = useDraft<Upstream | 'new'>('upstream in the dialog');
  const { data, error } = useQuery({
    queryKey: UPSTREAMS_KEY,
    queryFn: async () => (await api.get<{ items: Upstream[] }>('/v1/upstreams')).items,
    staleTime: 0,
    refetchInterval: REFRESH_MS,
    refetchOnWindowFocus: true,
  });
  return (
    <div className="flex flex-col gap-3">
      {denial ? <Callout>{denial} You can look, not change.</Callout> : null}
      {error ? <Callout tone="danger">{error.message}</Callout> : null}
      <div className="flex justify-end">
        <Button
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
        <UpstreamDialog
          upstream={edited === 'new' ? null : edited}
          meanwhile={meanwhileText({
            opened: edited === 'new' ? null : edited,
            things: data,
            isSame: (one, other) => one.name === other.name,
            formOf: (upstream) => upstream,
            noun: 'upstream',
          })}
          takenNames={(data ?? []).map(({ name }) => name)}
          onClose={() => setEdited(null)}
        />
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
  const refresh = () => queryClient.invalidateQueries({ queryKey: UPSTREAMS_KEY });
  return (
    <article data-testid="upstream-row" className="flex items-start gap-3 px-3 py-3 max-md:flex-wrap">
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
        <p className="text-muted text-xs">
          <Address url={upstream.base_url} />
        </p>
        <p className="flex min-w-0 flex-wrap items-center gap-x-1 text-xs">
          <span className="shrink-0 text-muted">Clients use</span>
          <span className="flex min-w-0 items-center gap-1">
            <Address url={proxyUrl} />
            <CopyButton text={proxyUrl} label={`Copy the base URL of ${name}`} />
          </span>
        </p>
        {isFixed ? (
          <p className="text-muted text-xs">
            Set by <code className="font-mono">{envName(name)}</code>, which wins over what is set here.
          </p>
        ) : null}
      </div>
      {isFixed ? null : (
        <span className="ml-auto flex shrink-0 flex-wrap items-center justify-end gap-1.5 max-md:[&>button]:h-10">
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
          await api.put(upstreamPath(name), { api_key: null });
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
          await api.delete(upstreamPath(name));
          await refresh();
        }}
      />
    </article>
  );
}
