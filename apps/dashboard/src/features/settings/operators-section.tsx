/** Operators: people, and what they may do. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type OperatorToken, type Page, ROLES, type Role } from '#contracts';
import { api, useDenial } from '../../api';
import {
  Badge,
  Button,
  Callout,
  CodeBlock,
  ConfirmDialog,
  Field,
  Input,
  Panel,
  Select,
  Skeleton,
  Table,
  Td,
  Th,
} from '../../ui';
import { AccessStatus, LastUsed } from './access-status';
import { OneTimeSecret } from './one-time-secret';

const QUERY_KEY = ['operators'];

const ROLE_HELP: Record<Role, string> = {
  viewer: 'Sees everything, changes nothing.',
  operator: 'Also pauses, guides and ends sessions.',
  admin: 'Also changes settings, and manages keys and operators.',
};
const ROLE_OPTIONS = ROLES.map((value) => ({ value, label: `${value[0]?.toUpperCase()}${value.slice(1)}` }));

export function OperatorsSection() {
  const denial = useDenial('manage_access');
  const queryClient = useQueryClient();
  const [created, setCreated] = useState<string | null>(null);
  const { data, error } = useQuery({
    queryKey: QUERY_KEY,
    queryFn: () => api.get<Page<OperatorToken>>('/v1/operators'),
    enabled: denial === null,
    staleTime: 0,
  });
  return (
    <div className="flex flex-col gap-4">
      {denial ? <Callout>{denial}</Callout> : null}
      <CreateOperator
        denial={denial}
        onCreated={(secret) => {
          setCreated(secret);
          void queryClient.invalidateQueries({ queryKey: QUERY_KEY });
        }}
      />
      {created ? (
        <OneTimeSecret
          title="Their operator token"
          secret={created}
          testId="operator-secret"
          onDone={() => setCreated(null)}
        >
          <p className="mb-1 text-xs">Or send this link, which fills the token in:</p>
          <CodeBlock
            code={`${window.location.origin}/login#token=${encodeURIComponent(created)}`}
            label="login link"
          />
        </OneTimeSecret>
      ) : null}
      {error ? <Callout tone="danger">{error.message}</Callout> : null}
      {denial ? null : data ? <OperatorTable operators={data.items} /> : <Skeleton className="h-40 w-full" />}
    </div>
  );
}

function CreateOperator({
  denial,
  onCreated,
}: {
  denial: string | null;
  onCreated: (secret: string) => void;
}) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('operator');
  const [missing, setMissing] = useState(false);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => api.post<{ secret: string }>('/v1/operators', { name: name.trim(), role }),
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
  return (
    <Panel title="New operator" bodyClassName="p-4">
      <form onSubmit={submit} className="flex flex-wrap items-start gap-3">
        <div className="min-w-0 flex-1 basis-52">
          <Field
            label="Name"
            hint="A person or a shift, such as “night shift”."
            error={missing ? 'Name the person or the shift.' : error?.message}
          >
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
        <div className="flex w-60 flex-col gap-1 max-md:w-full">
          <span aria-hidden="true" className="font-medium text-xs">
            Role
          </span>
          <Select
            label="Role"
            value={role}
            options={ROLE_OPTIONS}
            onChange={setRole}
            disabled={denial !== null}
            className="w-full"
          />
          <p className="text-muted text-xs">{ROLE_HELP[role]}</p>
        </div>
        <Button
          type="submit"
          variant="primary"
          data-testid="operator-create"
          busy={isPending}
          disabledReason={denial}
          className="mt-5 max-md:h-10"
        >
          Create operator
        </Button>
      </form>
    </Panel>
  );
}

function OperatorTable({ operators }: { operators: readonly OperatorToken[] }) {
  const [revoking, setRevoking] = useState<OperatorToken | null>(null);
  const queryClient = useQueryClient();
  const revoke = async (operator: OperatorToken) => {
    await api.delete(`/v1/operators/${encodeURIComponent(operator.token_id)}`);
    await queryClient.invalidateQueries({ queryKey: QUERY_KEY });
  };
  return (
    <Panel title="Operators" bodyClassName="overflow-x-auto">
      <Table>
        <thead>
          <tr>
            <Th>Name</Th>
            <Th>Role</Th>
            <Th className="max-md:hidden">Tenants</Th>
            <Th className="max-md:hidden">Token</Th>
            <Th className="max-md:hidden">Last used</Th>
            <Th>Status</Th>
            <Th>
              <span className="sr-only">Actions</span>
            </Th>
          </tr>
        </thead>
        <tbody>
          {operators.map((operator) => (
            <tr key={operator.token_id} className={operator.revoked_at_ms === null ? '' : 'text-muted'}>
              <Td className="max-w-36 truncate font-medium" title={operator.name}>
                {operator.name}
              </Td>
              <Td>
                <Badge tone={operator.role === 'admin' ? 'accent' : 'neutral'}>{operator.role}</Badge>
              </Td>
              <Td className="max-w-40 truncate max-md:hidden">
                {operator.tenant_ids.includes('*') ? 'All' : operator.tenant_ids.join(', ')}
              </Td>
              <Td className="font-mono text-xs whitespace-nowrap max-md:hidden">{operator.prefix}…</Td>
              <Td className="whitespace-nowrap max-md:hidden">
                <LastUsed atMs={operator.last_used_at_ms} />
              </Td>
              <Td>
                <AccessStatus revokedAtMs={operator.revoked_at_ms} />
              </Td>
              <Td className="text-right">
                {operator.revoked_at_ms === null ? (
                  <Button
                    size="sm"
                    variant="danger-quiet"
                    aria-label={`Revoke ${operator.name}`}
                    onClick={() => setRevoking(operator)}
                  >
                    Revoke
                  </Button>
                ) : null}
              </Td>
            </tr>
          ))}
        </tbody>
      </Table>
      <ConfirmDialog
        open={revoking !== null}
        onOpenChange={(open) => open || setRevoking(null)}
        title={`Revoke ${revoking?.name}?`}
        description="Their logins and open dashboards end at once. It cannot be undone."
        confirmLabel="Revoke operator"
        onConfirm={async () => revoking && revoke(revoking)}
      />
    </Panel>
  );
}
