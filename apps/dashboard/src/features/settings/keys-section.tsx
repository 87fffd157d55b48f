/** Agent keys: what agents send their DecisionLogs with. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { AgentKey, Page } from '#contracts';
import { ApiError, api, useDenial } from '../../api';
import {
  Button,
  Callout,
  CodeBlock,
  ConfirmDialog,
  EmptyState,
  Field,
  Input,
  Panel,
  Skeleton,
  Table,
  Td,
  Th,
} from '../../ui';
import { snippet } from '../onboarding/snippets';
import { AccessStatus, LastUsed } from './access-status';
import { OneTimeSecret } from './one-time-secret';

const QUERY_KEY = ['agent-keys'];

export function KeysSection() {
  const denial = useDenial('manage_access');
  const queryClient = useQueryClient();
  const [created, setCreated] = useState<string | null>(null);
  const { data, error } = useQuery({
    queryKey: QUERY_KEY,
    queryFn: () => api.get<Page<AgentKey>>('/v1/agent-keys'),
    enabled: denial === null,
    staleTime: 0,
  });
  return (
    <div className="flex flex-col gap-4">
      {denial ? <Callout>{denial}</Callout> : null}
      <CreateKey
        denial={denial}
        onCreated={(secret) => {
          setCreated(secret);
          void queryClient.invalidateQueries({ queryKey: QUERY_KEY });
        }}
      />
      {created ? (
        <OneTimeSecret
          title="Your new agent key"
          secret={created}
          testId="agent-key-secret"
          onDone={() => setCreated(null)}
        >
          <TryIt secret={created} />
        </OneTimeSecret>
      ) : null}
      {error ? <Callout tone="danger">{error.message}</Callout> : null}
      {denial ? null : data ? <KeyTable keys={data.items} /> : <Skeleton className="h-40 w-full" />}
    </div>
  );
}

function CreateKey({ denial, onCreated }: { denial: string | null; onCreated: (secret: string) => void }) {
  const [name, setName] = useState('');
  const [missing, setMissing] = useState(false);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => api.post<{ secret: string }>('/v1/agent-keys', { name: name.trim() }),
    onSuccess: ({ secret }) => {
      setName('');
      onCreated(secret);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (denial || isPending) return;
    setMissing(name.trim() === '');
    if (name.trim() !== '') mutate();
  };
  const failure = missing ? 'Give the key a name, so that you know later whose it is.' : error?.message;
  return (
    <Panel title="New agent key" bodyClassName="p-4">
      <form onSubmit={submit} className="flex flex-wrap items-start gap-3">
        <div className="min-w-0 flex-1 basis-60">
          <Field label="Name" hint="Which agents will use it, such as “research fleet”." error={failure}>
            <Input
              value={name}
              maxLength={100}
              readOnly={denial !== null}
              onChange={(event) => {
                setName(event.target.value);
                setMissing(false);
              }}
            />
          </Field>
        </div>
        <Button
          type="submit"
          variant="primary"
          data-testid="agent-key-create"
          busy={isPending}
          disabledReason={denial}
          className="mt-5 max-md:h-10"
        >
          Create key
        </Button>
      </form>
    </Panel>
  );
}

function TryIt({ secret }: { secret: string }) {
  const [stamp] = useState(() => ({
    suffix: Math.random().toString(36).slice(2, 6),
    timestamp: new Date().toISOString(),
  }));
  const ingestUrl = `${window.location.origin}/v1/decision-logs`;
  return (
    <CodeBlock
      code={snippet('curl', { ingestUrl, agentKey: secret, ...stamp })}
      label="curl line with the new key"
    />
  );
}

function KeyTable({ keys }: { keys: readonly AgentKey[] }) {
  const [revoking, setRevoking] = useState<AgentKey | null>(null);
  const queryClient = useQueryClient();
  const revoke = async (key: AgentKey) => {
    try {
      await api.delete(`/v1/agent-keys/${encodeURIComponent(key.key_id)}`);
    } catch (error) {
      // Somebody else was faster: what was wanted is so.
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    }
    await queryClient.invalidateQueries({ queryKey: QUERY_KEY });
  };
  return (
    <Panel title="Agent keys" bodyClassName="overflow-x-auto">
      {keys.length === 0 ? (
        <EmptyState title="No agent keys yet">Create one above and give it to an agent.</EmptyState>
      ) : (
        <Table>
          <thead>
            <tr>
              <Th>Name</Th>
              <Th>Key</Th>
              <Th className="max-md:hidden">Created by</Th>
              <Th className="max-md:hidden">Last used</Th>
              <Th>Status</Th>
              <Th>
                <span className="sr-only">Actions</span>
              </Th>
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <tr key={key.key_id} className={key.revoked_at_ms === null ? '' : 'text-muted'}>
                <Td className="max-w-40 truncate font-medium" title={key.name}>
                  {key.name}
                </Td>
                <Td className="font-mono text-xs whitespace-nowrap">{key.prefix}…</Td>
                <Td className="max-md:hidden">{key.created_by}</Td>
                <Td className="max-md:hidden whitespace-nowrap">
                  <LastUsed atMs={key.last_used_at_ms} />
                </Td>
                <Td>
                  <AccessStatus revokedAtMs={key.revoked_at_ms} />
                </Td>
                <Td className="text-right">
                  {key.revoked_at_ms === null ? (
                    <Button
                      size="sm"
                      variant="danger-quiet"
                      aria-label={`Revoke ${key.name}`}
                      onClick={() => setRevoking(key)}
                    >
                      Revoke
                    </Button>
                  ) : null}
                </Td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      <ConfirmDialog
        open={revoking !== null}
        onOpenChange={(open) => open || setRevoking(null)}
        title={`Revoke ${revoking?.name}?`}
        description="Agents with this key are refused from this moment on, open sockets included. It cannot be undone."
        confirmLabel="Revoke key"
        confirmTestId="agent-key-revoke"
        onConfirm={async () => revoking && revoke(revoking)}
      />
    </Panel>
  );
}
