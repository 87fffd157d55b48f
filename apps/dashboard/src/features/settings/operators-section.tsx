/** Operators: people, and what they may do. */
import { useState } from 'react';
import { ENVIRONMENT_ID, type OperatorToken, ROLES, type Role } from '#contracts';
import { Badge, CodeBlock, Panel, SelectField, Td, Th } from '../../ui';
import { AccessSection } from './access-section';
import { AccessRow, AccessTable, PhoneLine, PrefixCell } from './access-table';
import { CreateAccess } from './create-access';

const QUERY_KEY = ['operators'];

const ROLE_HELP: Record<Role, string> = {
  viewer: 'Sees everything, changes nothing.',
  operator: 'Also pauses, guides and ends sessions.',
  admin: 'Also sets up agents, upstreams, prices and alerts, and manages keys and operators.',
};
const ROLE_OPTIONS = ROLES.map((value) => ({ value, label: `${value[0]?.toUpperCase()}${value.slice(1)}` }));

export function OperatorsSection() {
  return (
    <AccessSection<OperatorToken>
      queryKey={QUERY_KEY}
      path="/v1/operators"
      form={(onCreated) => <CreateOperator onCreated={onCreated} />}
      secretTitle="Their operator token"
      secretTestId="operator-secret"
      secretHelp={(secret) => (
        <>
          <p className="mb-1 text-xs">Or send this link, which fills the token in:</p>
          <CodeBlock
            code={`${window.location.origin}/login#token=${encodeURIComponent(secret)}`}
            label="login link"
          />
        </>
      )}
      list={(operators) => <OperatorTable operators={operators} />}
    />
  );
}

function CreateOperator({ onCreated }: { onCreated: (secret: string) => void }) {
  const [role, setRole] = useState<Role>('operator');
  return (
    <CreateAccess
      onCreated={onCreated}
      title="New operator"
      path="/v1/operators"
      body={{ role }}
      nameHint="A person or a shift, such as “night shift”."
      nameMissing="Name the person or the shift."
      submitLabel="Create operator"
      testId="operator-create"
    >
      {() => (
        <div className="w-60 max-md:w-full">
          <SelectField
            label="Role"
            value={role}
            options={ROLE_OPTIONS}
            onChange={setRole}
            hint={ROLE_HELP[role]}
          />
        </div>
      )}
    </CreateAccess>
  );
}

const tenantsOf = ({ tenant_ids }: OperatorToken): string =>
  tenant_ids.includes('*') ? 'All' : tenant_ids.join(', ');

function OperatorTable({ operators }: { operators: readonly OperatorToken[] }) {
  return (
    <Panel title="Operators" bodyClassName="">
      <AccessTable
        heads={
          <>
            <Th>Role</Th>
            <Th className="max-md:hidden">Tenants</Th>
            <Th className="max-md:hidden">Token</Th>
          </>
        }
      >
        {operators.map((operator) => (
          <AccessRow
            key={operator.token_id}
            access={operator}
            nameClassName="max-w-36"
            note={<PhoneLine>Tenants: {tenantsOf(operator)}</PhoneLine>}
            path={`/v1/operators/${encodeURIComponent(operator.token_id)}`}
            listKey={QUERY_KEY}
            consequence="Their logins and open dashboards end at once."
            variable={operator.token_id === ENVIRONMENT_ID ? 'OBSERVATORY_OPERATOR_TOKEN' : null}
            confirmLabel="Revoke operator"
          >
            <Td>
              <Badge tone={operator.role === 'admin' ? 'accent' : 'neutral'}>{operator.role}</Badge>
            </Td>
            <Td className="max-w-40 truncate max-md:hidden">{tenantsOf(operator)}</Td>
            <PrefixCell prefix={operator.prefix} />
          </AccessRow>
        ))}
      </AccessTable>
    </Panel>
  );
}
